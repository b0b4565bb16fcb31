"""The paper's figures, drawn from the datasets of a run.

A figure is a module, or any object, with the attributes of :class:`Drawing`. Nothing here imports matplotlib before
a figure is drawn.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from whiffclock.archive import write_whole
from whiffclock.paper.dataset import Datasets
from whiffclock.params import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawing(Protocol):
    """What draws a figure.

    Attributes
    ----------
    TITLE
        A few words.
    NEEDS
        Names of what must be computed for the figure.
    """

    TITLE: str
    NEEDS: tuple[str, ...]

    def draw(self, data: Datasets) -> Figure:
        """The picture, drawn under the settings of :mod:`~whiffclock.paper.figures.style`."""

    def caption(self, data: Datasets) -> str:
        """What it shows, with its numbers, as plain text; :func:`render` adds where the odor comes from."""


_PAPER = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "s1", "s2", "s3", "s4", "s5")
#: All figures in the order of the paper, by id: what draws them, or the name of a module. More can be put in.
FIGURES: dict[str, Drawing | str] = {figure: f"{__name__}.{figure}" for figure in _PAPER}

_DPI = 200
#: Longer SVG is more than a page should carry.
_LONGEST_SVG = 500_000
#: No dates and versions in files.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
}


@dataclass(frozen=True)
class Rendered:
    """A figure on disk, and what a page needs to show it.

    Attributes
    ----------
    figure, title, caption
        Id, a few words, and plain text.
    png, pdf
        The files.
    svg
        The drawing as SVG; empty where that is too long for a page, which then takes the PNG.
    width
        In inches: one column of a journal, or two.
    """

    figure: str
    title: str
    caption: str
    png: Path
    pdf: Path
    svg: str
    width: float


def drawing(figure: str) -> Drawing:
    """What draws a figure."""
    require(figure in FIGURES, f"There is no figure {figure}; choose from {', '.join(FIGURES)}.")
    found = FIGURES[figure]
    return cast(Drawing, importlib.import_module(found)) if isinstance(found, str) else found


def render(data: Datasets, out: Path, figures: Sequence[str] | None = None) -> dict[str, Rendered]:
    """Draw figures into ``<out>/<figure>.png`` and ``.pdf``.

    The bytes depend on the data alone, for the same versions of the libraries.

    Parameters
    ----------
    figures
        Ids, in any order. Default: those of the run, as far as they are in :data:`FIGURES`.
    """
    wanted = [figure for figure in data.facts["figures"] if figure in FIGURES] if figures is None else figures
    drawings = {figure: drawing(figure) for figure in wanted}
    return {figure: _render(figure, drawings[figure], data, out) for figure in FIGURES if figure in drawings}


def picture(figure: str, data: Datasets) -> Figure:
    """A figure drawn under the settings of all figures, and arranged once for every format."""
    from whiffclock.paper.figures.style import context

    with context():
        drawn = drawing(figure).draw(data)
        drawn.draw_without_rendering()
        drawn.set_layout_engine("none")
    return drawn


def _render(figure: str, drawing: Drawing, data: Datasets, out: Path) -> Rendered:
    from whiffclock.paper.figures import words

    drawn = picture(figure, data)
    content = {form: _file(drawn, form, figure) for form in _METADATA}
    paths = {form: out / f"{figure}.{form}" for form in ("png", "pdf")}
    for form, path in paths.items():
        write_whole(path, lambda file, form=form: file.write(content[form]))  # type: ignore[misc]
    svg = content["svg"].decode()
    short = svg[svg.index("<svg") :] if len(svg) <= _LONGEST_SVG else ""
    caption = f"{drawing.caption(data)} {words.odor(data)}".strip()
    return Rendered(figure, drawing.TITLE, caption, **paths, svg=short, width=float(drawn.get_size_inches()[0]))


def _file(drawn: Figure, form: str, salt: str) -> bytes:
    from whiffclock.paper.figures.style import context

    file = io.BytesIO()
    with context({"svg.hashsalt": f"whiffclock {salt}"}):
        drawn.savefig(file, format=form, dpi=_DPI, metadata=_METADATA[form])
    return file.getvalue()
