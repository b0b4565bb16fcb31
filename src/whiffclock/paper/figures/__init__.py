"""The paper's figures, drawn from saved results: one module per figure, each with TITLE, draw and caption.

Nothing here imports matplotlib before a figure is drawn.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from whiffclock.experiments.results import Result

#: Ids of the figures, in the order of the paper.
FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "s1", "s2", "s3", "s4", "s5")

_DPI = 200
#: Longer SVG is more than a page should carry.
_LONGEST_SVG = 500_000


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


def render(results: Mapping[str, Result], out: Path, origin: str | None = None) -> dict[str, Rendered]:
    """Draw every result that is there into ``<out>/<figure>.png`` and ``.pdf``.

    The bytes depend on the results alone, for the same versions of the libraries.

    Parameters
    ----------
    origin
        Where the plume comes from, for results whose facts do not tell.
    """
    rendered = {}
    for figure in FIGURES:
        if figure in results:
            rendered[figure] = _render(_with_origin(results[figure], origin), out)
    return rendered


def module(figure: str) -> Any:
    """The module that draws a figure."""
    return importlib.import_module(f"{__name__}.{figure}")


def _with_origin(result: Result, origin: str | None) -> Result:
    return result if origin is None else replace(result, facts={"origin": origin, **result.facts})


def _render(result: Result, out: Path) -> Rendered:
    drawing = module(result.figure)
    figure = drawing.draw(result)
    png, pdf = out / f"{result.figure}.png", out / f"{result.figure}.pdf"
    _write(png, _bytes(figure, "png", result.figure))
    _write(pdf, _bytes(figure, "pdf", result.figure))
    svg = _bytes(figure, "svg", result.figure).decode()
    short = svg[svg.index("<svg") :] if len(svg) <= _LONGEST_SVG else ""
    width = float(figure.get_size_inches()[0])
    return Rendered(result.figure, drawing.TITLE, drawing.caption(result), png, pdf, short, width)


def _bytes(figure: Figure, form: str, salt: str) -> bytes:
    """The picture as a file without a date."""
    from whiffclock.paper.figures.style import context

    undated: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "pdf": {"CreationDate": None},
        "svg": {"Date": None},
    }
    file = io.BytesIO()
    with context({"svg.hashsalt": f"whiffclock {salt}"}):
        figure.savefig(file, format=form, dpi=_DPI, metadata=undated[form])
    return file.getvalue()


def _write(path: Path, content: bytes) -> None:
    from whiffclock.archive import write_whole

    def write(file: Any) -> None:
        file.write(content)

    write_whole(path, write)
