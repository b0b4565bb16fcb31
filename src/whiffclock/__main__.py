"""``python -m whiffclock``: the command line."""

import sys

if __name__ == "__main__":  # not when a worker process imports it
    try:
        from whiffclock.entry import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)
