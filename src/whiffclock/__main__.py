"""``python -m whiffclock``: the command line."""

from whiffclock.cli import main

main()
