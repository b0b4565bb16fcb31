"""``whiffclock view``: a page that shows agents searching."""

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.params import ViewSettings, WorldSettings

Region = Annotated[WorldSettings, OptionGroup(opt.WORLD_SPECS, only=("radius", "start_threshold"))]


@app.command()
@with_options
def view(
    *,
    policies: Annotated[list[Path] | None, typer.Argument(metavar="[POLICY]...", help=opt.POLICIES_HELP)] = None,
    plume: opt.PlumeSettings,
    world: Region,
    out: Annotated[Path, "HTML file to write; an older one is replaced.", OptionSpec("FILE")] = Path("whiffclock.html"),
    settings: ViewSettings,
    open: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
) -> None:
    """Watch agents search: write one HTML file with plume and agents, and open it.

    The file works by itself, without a network. Agents that come with
    whiffclock are always in it if they were made on the same plume.

    Example: whiffclock view policies
    """
    import webbrowser

    from whiffclock.disk import require_replaceable, require_writable
    from whiffclock.runs.comparison import find_policies
    from whiffclock.viewer.page import view_page

    require_replaceable(out)
    require_writable(out.parent)
    found = [(None, policy) for _, policy in find_policies(policies)] if policies else []
    page = view_page(plume.open(), found, world, settings)
    page.save(out)
    opt.out.print(f"Page: {out}", markup=False, highlight=False, soft_wrap=True)
    if open and not webbrowser.open(out.resolve().as_uri()):
        opt.say(f"No browser could be opened; open {out} in one.")
