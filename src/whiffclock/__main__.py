"""``python -m whiffclock``: the command line."""

from whiffclock.cli import main

if __name__ == "__main__":  # not when a worker process imports it
    main()
