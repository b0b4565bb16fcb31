"""``whiffclock plume``: make, measure and convert plumes."""

from whiffclock.cli import app
from whiffclock.cli.help import App

plume_app = App(help="Make, check, measure, convert and download plumes.")
app.add_typer(plume_app, name="plume")

# The commands register themselves with the app.
from whiffclock.cli.plume import calibrate, check, export, fetch, inspect, make  # noqa: E402, F401
