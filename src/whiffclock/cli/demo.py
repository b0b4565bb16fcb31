"""``whiffclock demo``: the paper, small."""

from pathlib import Path
from typing import Annotated

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.reproduce import reproduced
from whiffclock.paper.readings.settings import Readings

#: The figure of the small demo: recovery, from 60 agents.
_ONE = "fig3"


@app.command()
@with_options
def demo(
    *,
    out: Annotated[Path, "Folder for report, figures and claims.", OptionSpec("DIR")] = Path("demo"),
    small: Annotated[bool, "One figure and its claims only, in a quarter of the time."] = False,
    engine: opt.Engine,
) -> None:
    """Two minutes: train agents, draw the paper's figures, test its claims.

    The same as: whiffclock reproduce --profile quick --out demo

    Example: whiffclock demo
    """
    from whiffclock.plume.builtin import builtin_plume

    reproduced(builtin_plume, "quick", _ONE if small else None, out, None, Readings(), engine, anyway=False)
    opt.say(f"Next: open {out / 'report.html'} in a browser, or: whiffclock view")
