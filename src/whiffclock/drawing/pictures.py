"""Figures as files: one layout and one style for every format."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from whiffclock.disk import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 200
_BACKENDS = {"png": "agg", "pdf": "pdf", "svg": "svg"}
#: No dates and versions in files.
_METADATA: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def arranged(draw: Callable[[], Figure]) -> Figure:
    """The result of ``draw`` with the settings of all figures, with one layout for every format."""
    from whiffclock.drawing.style import context

    with context():
        drawn = draw()
        if engine := drawn.get_layout_engine():
            engine.execute(drawn)
            drawn.set_layout_engine("none")
    return drawn


def write_picture(drawn: Figure, path: Path) -> Path:
    """Write a figure that has its layout as ``.png`` or ``.pdf``, by the name of the file."""
    write_whole(path, partial(save_picture, drawn, path.suffix[1:], path.stem))
    return path


def save_picture(drawn: Figure, form: str, salt: str, file: BinaryIO) -> None:
    """Write a figure that has its layout; ``savefig`` would draw it twice."""
    from whiffclock.drawing.style import context

    canvas = importlib.import_module(f"matplotlib.backends.backend_{_BACKENDS[form]}").FigureCanvas(drawn)
    with context(f"whiffclock {salt}"):
        drawn.dpi = _DPI
        getattr(canvas, f"print_{form}")(file, metadata=_METADATA[form])
