"""The paper's figures, drawn from the datasets of a run.

A figure is a module, or any object, with ``TITLE`` (a few words), ``NEEDS`` (what must be computed for it),
``draw(data) -> Figure`` and ``caption(data) -> str`` (plain text); and, if it has them, ``alt(data) -> str`` (what is
seen, in words) and ``table(data) -> Table`` (numbers beside the caption). Nothing here imports matplotlib before a
figure is drawn.
"""

import gc
import importlib
import io
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whiffclock.child_processes import end_with_parent
from whiffclock.drawing.pictures import arranged, save_picture, write_picture
from whiffclock.paper.dataset import Datasets, in_order
from whiffclock.paper.figures.captions import Table
from whiffclock.params import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAPER = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "s1", "s2", "s3", "s4", "s5", "s6")
#: All figures by id, in the order of the paper: what draws them, or the name of its module. More can be added.
FIGURES: dict[str, Any] = {figure: f"{__name__}.{figure}" for figure in _PAPER}

#: The figures beyond the paper, which are drawn from datasets of their own.
BEYOND: dict[str, Any] = {figure: f"whiffclock.paper.beyond.{figure}" for figure in ("b1", "b2", "b3", "b4")}

#: Fewer figures are not worth the start of a process.
_FIGURES_PER_WORKER = 3
#: Longer SVG is more than a page should carry.
_LONGEST_SVG = 500_000


@dataclass(frozen=True)
class Rendered:
    """A figure on disk, and what a page needs to show it; ``width`` is in inches, of one column or two."""

    figure: str
    title: str
    caption: str
    png: Path
    pdf: Path
    svg: str  # empty where it is too long for a page, which then takes the PNG
    width: float
    alt: str  # what is seen
    table: Table | None  # shown below the caption
    numbers: str  # what the table has


def drawing(figure: str) -> Any:
    """The module or object that draws a figure."""
    _require_known(figure)
    found = known()[figure]
    return importlib.import_module(found) if isinstance(found, str) else found


def known() -> dict[str, Any]:
    """All figures by id: the paper's, then those beyond it."""
    return FIGURES | BEYOND


def _require_known(figure: str) -> None:
    require(figure in known(), f"There is no figure {figure}; choose from {', '.join(known())}.")


def render(data: Datasets, out: Path, figures: Sequence[str] | None = None, workers: int = 1) -> dict[str, Rendered]:
    """Draw figures into ``<out>/<figure>.png`` and ``.pdf``, in the order of :func:`known`.

    The bytes depend on the data alone, for the same versions of the libraries. ``figures`` are ids, by default those of
    the run, as far as they are known. There are at most ``workers`` processes at the same time; figures that were added
    to the paper's are drawn in this one.
    """
    every = known()
    wanted = [figure for figure in figures_of(data) if figure in every] if figures is None else figures
    for figure in wanted:
        _require_known(figure)
    chosen, ordered = [figure for figure in every if figure in wanted], in_order(data)
    apart = [figure for figure in chosen if isinstance(every[figure], str)]
    workers = min(workers, len(apart) // _FIGURES_PER_WORKER)
    drawn: dict[str, Rendered] = {}
    if workers > 1:
        with suppress(BrokenProcessPool):  # a process was killed; what it has not drawn is drawn here
            for one in _render_apart(apart, ordered, out, workers):
                drawn[one.figure] = one
    with _no_collection():
        return {figure: drawn.get(figure) or _render(figure, data_of(figure, ordered), out) for figure in chosen}


def figures_of(data: Datasets) -> list[str]:
    """The figures of a run, with those beyond the paper."""
    return data.facts["figures"] + ([] if data.beyond is None else data.beyond.facts["figures"])


def data_of(figure: str, data: Datasets) -> Datasets:
    """The datasets that a figure is drawn from."""
    if figure not in BEYOND:
        return replace(data, beyond=None)
    require(data.beyond is not None, f"The run has no data for the figure {figure}, which is beyond the paper.")
    assert data.beyond is not None
    return data.beyond


def _render_apart(figures: Sequence[str], data: Datasets, out: Path, workers: int) -> Iterator[Rendered]:
    """Draw figures in other processes."""
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
    try:
        for future in [pool.submit(_render, figure, data_of(figure, data), out) for figure in figures]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    end_with_parent()
    gc.disable()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without cyclic garbage collection: a sixth of the time of drawing, for some 20 MB per figure until it is over."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def picture(figure: str, data: Datasets) -> "Figure":
    """A figure drawn with the settings of all figures, with one layout for every format."""
    return arranged(lambda: drawing(figure).draw(data))


def _render(figure: str, data: Datasets, out: Path) -> Rendered:
    drawn, svg = picture(figure, data), io.BytesIO()
    png, pdf = (write_picture(drawn, out / f"{figure}.{form}") for form in ("png", "pdf"))
    save_picture(drawn, "svg", figure, svg)
    text = svg.getvalue().decode()
    short = text[text.index("<svg") :] if len(text) <= _LONGEST_SVG else ""
    made = drawing(figure)
    caption, _, numbers = made.caption(data).partition(" Table: ")
    caption += " Synthetic plume." * data.synthetic
    numbers = numbers[:1].upper() + numbers[1:]
    alt = made.alt(data) if hasattr(made, "alt") else made.TITLE
    table = made.table(data) if hasattr(made, "table") else None
    return Rendered(
        figure, made.TITLE, caption, png, pdf, short, float(drawn.get_size_inches()[0]), alt, table, numbers
    )
