"""``whiffclock plume``: make, read, look at and write odor fields."""

import typer

from whiffclock.cli import app

plume_app = typer.Typer(help="Make, look at and write odor fields.", no_args_is_help=True)
app.add_typer(plume_app, name="plume")

# The commands register themselves with the app.
from whiffclock.cli.plume import calibrate, export, inspect, make  # noqa: E402, F401
