"""The command line: ``whiffclock reproduce | report | claims | data | train | sweep | evaluate | compare | ...``."""

from typing import Annotated

import typer

from whiffclock import __version__
from whiffclock.cli.help import App
from whiffclock.entry import main as main

app = App(name="whiffclock", no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"whiffclock {__version__}")
        raise typer.Exit


#: What ``whiffclock`` alone shows.
WELCOME = f"""whiffclock {__version__}: olfactory search in turbulence with a clock as memory

  whiffclock demo         two minutes: agents, figures and claims of the paper
  whiffclock view         watch agents search, in a browser
  whiffclock study FILE   from your own recording to its searchers and a report

All commands: whiffclock --help. If something does not work: whiffclock doctor."""


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Olfactory search in turbulence with a clock as memory.

    Start with: whiffclock demo
    """
    if context.invoked_subcommand is None:
        print(WELCOME)


# The commands register themselves with the app.
from whiffclock.cli import (  # noqa: E402, F401
    assay,
    bayes,
    claims,
    data,
    demo,
    doctor,
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
