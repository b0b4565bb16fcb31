"""The paper's figures, drawn from saved results: one module per figure, each with TITLE, draw and caption.

Nothing here imports matplotlib before a figure is drawn.
"""

from __future__ import annotations

import base64
import html
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
#: Longer SVG is embedded as PNG instead.
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
        Markup to embed in a page: the drawing as SVG or, if that is long, an ``img`` of the PNG.
    """

    figure: str
    title: str
    caption: str
    png: Path
    pdf: Path
    svg: str


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


def embedded(drawing: str, picture: bytes, title: str) -> str:
    """What shows a figure within a page: SVG or, if that is long, PNG; with a name for those who cannot see it."""
    name = html.escape(title)
    if len(drawing) > _LONGEST_SVG:
        return f'<img alt="{name}" src="data:image/png;base64,{base64.b64encode(picture).decode()}">'
    return drawing[drawing.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{name}"', 1)


def module(figure: str) -> Any:
    """The module that draws a figure."""
    return importlib.import_module(f"{__name__}.{figure}")


def _with_origin(result: Result, origin: str | None) -> Result:
    return result if origin is None else replace(result, facts={"origin": origin, **result.facts})


def _render(result: Result, out: Path) -> Rendered:
    drawing = module(result.figure)
    figure = drawing.draw(result)
    png, pdf = out / f"{result.figure}.png", out / f"{result.figure}.pdf"
    picture = _bytes(figure, "png", result.figure)
    _write(png, picture)
    _write(pdf, _bytes(figure, "pdf", result.figure))
    markup = embedded(_bytes(figure, "svg", result.figure).decode(), picture, drawing.TITLE)
    return Rendered(result.figure, drawing.TITLE, drawing.caption(result), png, pdf, markup)


def _bytes(figure: Figure, form: str, salt: str) -> bytes:
    """The picture as a file without a date."""
    from whiffclock.report.figures.style import context

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
