"""The command line: ``whiffclock reproduce | report | train | evaluate | compare | bayes | pomdp | plume | ...``."""

import sys

import typer

from whiffclock.params import InputError

app = typer.Typer(
    name="whiffclock",
    help="Olfactory search in turbulence with a clock for a memory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

# The commands register themselves with the app.
from whiffclock.cli import bayes, info, judge, plume, pomdp, report, reproduce, runs, train  # noqa: E402, F401


def main() -> None:
    """Entry point: bad input gets one sentence and exit code 2."""
    try:
        app()
    except InputError as error:
        print(f"whiffclock: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
