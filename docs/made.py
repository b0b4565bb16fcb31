"""What the documentation takes from the package: written into ``docs/made`` before the pages are built.

The report of the full run takes two minutes and is made once; so is the page of searches. ``make clean`` removes both.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
import typer

import whiffclock as wc
from whiffclock.cli import app
from whiffclock.paper.figures import drawing, known
from whiffclock.paper.page.report import write_report
from whiffclock.paper.reference import load_run

NOTEBOOKS = Path(__file__).parent.parent / "examples"


def everything(folder: Path) -> None:
    """Make all of it."""
    site = folder / "site"
    site.mkdir(parents=True, exist_ok=True)
    if not (site / "report" / "report.html").exists():
        write_report(load_run(), site / "report")
    if not (site / "live.html").exists():
        wc.view(path=site / "live.html", small=True)
    (folder / "commands.md").write_text("\n".join(commands()), encoding="utf-8")
    (folder / "figures.md").write_text("\n".join(figures(site / "report" / "figures")), encoding="utf-8")
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        shutil.copy(notebook, folder)


def commands() -> Iterator[str]:
    """A page with the help of every command."""
    yield "# Commands\n\nWhat `whiffclock COMMAND --help` prints.\n"
    for path, command in each_command(typer.main.get_command(app), ("whiffclock",)):
        title = " ".join(path[1:])
        if title:
            text = command.get_help(click.Context(command, info_name=" ".join(path), terminal_width=80))
            yield f"{'#' * len(path)} {title}\n\n```text\n{text}\n```\n"


def each_command(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below one, each after its group."""
    yield path, command
    if hasattr(command, "list_commands"):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from each_command(command.get_command(context, name), (*path, name))


def figures(folder: Path) -> Iterator[str]:
    """A page with the figures of the full run."""
    yield FIGURES_HEAD
    for name in known():
        if (picture := folder / f"{name}.png").exists():
            title = drawing(name).TITLE
            yield f"## {name}: {title}\n\n![{title}]({picture.relative_to(folder.parents[2])})\n"
            yield f"`whiffclock data {name} --csv {name}.csv`\n"


def check_links(site: Path) -> None:
    """Fail if a page links to a file that is not in the site."""
    broken = []
    for page in site.rglob("*.html"):
        if page.parts[len(site.parts)] in ("_static", "report", "live.html"):
            continue  # pages of their own, with tests of their own
        for link in re.findall(r'(?:href|src)="([^"#?:]+)["#?]', page.read_text(encoding="utf-8")):
            if not (page.parent / unquote(link)).exists():
                broken.append(f"{page.relative_to(site)}: {link}")
    if broken:
        raise SystemExit("Broken links:\n" + "\n".join(sorted(set(broken))))


FIGURES_HEAD = """# Figures of the paper

All figures of the full run that comes with the package (built-in plume, **synthetic**). This draws one of them;
`whiffclock report` draws all, with captions:

```python
from whiffclock.paper.figures import picture
from whiffclock.paper.reference import load_run

picture("fig3", load_run()).savefig("fig3.png")
```
"""
