"""Printing in a terminal: names and origins come from files, so they must not control it; tables keep all columns."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from whiffclock.escapes import escaped

#: Letters of a column whose words may be cut anywhere.
_FEWEST_LETTERS = 8


class Terminal(Console):
    """A console that prints text as it is, without markup or colours for numbers, and escapes control characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, **options)

    @property  # type: ignore[misc]
    def file(self) -> Any:
        """The stream itself, not the one that escapes what others print: colours are control characters, too."""
        found = super().file
        return getattr(found, "unescaped", found)

    def render_str(self, text: str, **options: Any) -> Text:
        """Text of a string; rich would drop some control characters."""
        return super().render_str(escaped(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of anything."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(escaped(part.text), part.style)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print; a table that is wider than the terminal is not cut: its lines continue in the next ones."""
        if len(objects) == 1 and isinstance(objects[0], Table):
            (table,) = objects
            if (width := self._narrowest(table)) > self.width:
                objects = (Segments(self.render(table, self.options.update(width=width))),)
                how["soft_wrap"] = True
        super().print(*objects, **how)

    def _narrowest(self, table: Table) -> int:
        """The width below which rich cuts columns, or leaves them out."""
        wide = self.options.update(width=10_000)
        cut, whole = 0, 0
        for column in table.columns:
            sizes = [Measurement.get(self, wide, cell) for cell in (column.header, *column.cells)]
            longest = max(size.maximum for size in sizes)
            word = max(size.minimum for size in sizes)
            cut += longest if column.no_wrap else min(word, _FEWEST_LETTERS) if column.overflow == "fold" else word
            whole += longest
        return cut + Measurement.get(self, wide, table).maximum - whole
