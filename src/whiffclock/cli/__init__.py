"""The command line: ``whiffclock reproduce | report | claims | data | train | sweep | evaluate | compare | ...``."""

from typing import Annotated

import typer

from whiffclock import __version__
from whiffclock.cli.help import App
from whiffclock.entry import main as main

app = App(name="whiffclock", context_settings={"help_option_names": ["-h", "--help"]})


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"whiffclock {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Olfactory search in turbulence with a clock as memory.

    Start with: whiffclock reproduce --profile quick
    """


# The commands register themselves with the app.
from whiffclock.cli import (  # noqa: E402, F401
    bayes,
    claims,
    data,
    evaluation,
    export,
    info,
    leaderboard,
    optimize,
    plume,
    pomdp,
    readings,
    recovery,
    report,
    reproduce,
    runs,
    study,
    sweep,
    tracks,
    train,
    view,
)
