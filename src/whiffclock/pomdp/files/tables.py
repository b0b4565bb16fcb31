"""Tables of several axes as files give them: piece by piece, later entries overriding earlier ones.

A table is kept as a sparse matrix: its last axis gives the columns, all others together the rows. An entry is kept if
no later entry sets its whole row or its cell; this is decided once, at the end.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from whiffclock.params import InputError, require_memory
from whiffclock.pomdp.files.source import Source
from whiffclock.pomdp.tabular import SUM_TOLERANCE, entries_of_rows

#: Bytes that an entry takes while the table is put together.
_BYTES = 80
#: Rows that the entries of one table may set, counted as often as they are set.
_MOST_WORK = 10**9


@dataclass(frozen=True)
class Diagonal:
    """Ones where the position along ``axis`` is that along the last axis, else zeros."""

    axis: int


class Table:
    """A table of numbers over axes of the given sizes, zero where nothing is set."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        n_rows = math.prod(self.sizes[:-1])
        self.lines = np.zeros(n_rows, dtype=np.int32)  # the last line of the file that set something in each row
        self._reset = np.zeros(n_rows, dtype=np.int32)  # number of the last entry that set the whole row
        self._cells: list[np.ndarray] = []
        self._values: list[np.ndarray] = []
        self._stored = self._work = 0

    def set(self, box: Sequence[np.ndarray], values: np.ndarray | float | Diagonal, line: int) -> None:
        """Set the cells in ``box``, the positions along each axis, to ``values``, which broadcast to it.

        Along the last axis, a box has one position or all.
        """
        rows, columns = np.zeros(1, dtype=np.int64), box[-1]
        for positions, size in zip(box[:-1], self.sizes[:-1], strict=True):
            rows = (rows[:, None] * size + positions).ravel()
        whole = len(columns) == self.sizes[-1]
        pattern, of_row = _pattern([len(axis) for axis in box], values, zeros=not whole)
        repeated = len(columns) if pattern.columns == 1 else 1
        self._require_room(len(rows), int(np.diff(pattern.indptr)[of_row].sum()) * repeated)
        if whole:
            self._reset[rows] = len(self._cells)
        at_row, at = entries_of_rows(pattern.indptr, of_row)
        column = columns[pattern.indices[at]] if repeated == 1 else np.tile(columns, len(at))
        self._cells.append(np.repeat(rows[at_row], repeated) * self.sizes[-1] + column)
        self._values.append(np.repeat(pattern.data[at], repeated))
        self.lines[rows] = line

    def set_cells(self, places: Sequence[np.ndarray], values: np.ndarray, lines: np.ndarray) -> None:
        """Set single cells, at these positions along each axis; the last axis must have more than one."""
        rows = np.zeros(len(values), dtype=np.int64)
        for positions, size in zip(places[:-1], self.sizes[:-1], strict=True):
            rows = rows * size + positions
        self._require_room(len(rows), len(rows))
        self._cells.append(rows * self.sizes[-1] + places[-1])
        self._values.append(values)
        self.lines[rows] = lines

    def _require_room(self, rows: int, entries: int) -> None:
        self._stored += entries
        self._work += rows + entries
        require_memory(self._stored * _BYTES, f"A table with {self._stored:,} entries that are not zero")
        if self._work > _MOST_WORK:
            raise InputError(f"The entries of a table set more than {_MOST_WORK:,} rows and numbers.")

    def matrix(self) -> sp.csr_array:
        """The table as a sparse matrix [row, column], without stored zeros."""
        shape = (len(self.lines), self.sizes[-1])
        if not self._cells:
            return sp.csr_array(shape)
        number = np.repeat(np.arange(len(self._cells), dtype=np.int32), [len(part) for part in self._cells])
        cell, values = np.concatenate(self._cells), np.concatenate(self._values)
        self._cells, self._values = [], []
        kept = number >= self._reset[cell // shape[1]]
        if not kept.all():
            cell, values = cell[kept], values[kept]
        if (np.diff(cell) <= 0).any():
            order = np.argsort(cell, kind="stable")
            cell, values = cell[order], values[order]
            last = np.append(cell[1:] != cell[:-1], True)
            cell, values = cell[last], values[last]
        row, column = np.divmod(cell[values != 0], shape[1])
        start = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=shape[0]), out=start[1:])
        return sp.csr_array((values[values != 0], column, start), shape=shape)

    def distributions(self, source: Source, name: Callable[[int], str]) -> sp.csr_array:
        """The table as probabilities whose rows sum to one; ``name`` describes a bad row."""
        matrix = self.matrix()
        sums = np.asarray(matrix.sum(axis=1))
        bad = np.flatnonzero(np.abs(sums - 1) >= SUM_TOLERANCE)
        if bad.size:
            row = int(bad[0])
            reason = f"the probabilities of {name(row)} sum to {sums[row]:g}; they must sum to one."
            source.require(self.lines[row] == 0, int(self.lines[row]), reason)
            raise InputError(f"{source.path}: no probabilities are given for {name(row)}.")
        matrix.data /= np.repeat(sums, np.diff(matrix.indptr))
        return matrix


class _Pattern(NamedTuple):
    """A small sparse matrix, in the layout of scipy; if it has one column, that holds for all."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    columns: int


def _pattern(
    shape: Sequence[int], values: np.ndarray | float | Diagonal, *, zeros: bool
) -> tuple[_Pattern, np.ndarray]:
    """The different rows that ``values`` have in a box of this ``shape``, and which of them each row of the box has.

    ``zeros`` are stored as well where they may override something.
    """
    if isinstance(values, Diagonal):
        n = shape[-1]
        rows = [n if axis == values.axis else 1 for axis in range(len(shape) - 1)]
        pattern = _Pattern(np.arange(n + 1), np.arange(n), np.ones(n), n)
    else:
        array = np.asarray(values, dtype=np.float64)
        array = array.reshape([1] * (len(shape) - array.ndim) + list(array.shape))
        rows, flat = list(array.shape[:-1]), array.reshape(-1, array.shape[-1])
        row, column = np.nonzero(np.ones_like(flat) if zeros else flat)
        pattern = _Pattern(np.searchsorted(row, np.arange(len(flat) + 1)), column, flat[row, column], flat.shape[1])
    number = np.arange(math.prod(rows)).reshape(rows)
    return pattern, np.broadcast_to(number, shape[:-1]).ravel()


def require_probabilities(source: Source, values: np.ndarray, lines: Sequence[int] | int) -> None:
    """Refuse values outside 0 to 1; ``lines`` has the line of each, or of all."""
    if values.size and (values.min() < 0 or values.max() > 1 + SUM_TOLERANCE):
        bad = np.flatnonzero((values < 0) | (values > 1 + SUM_TOLERANCE))
        line = lines if isinstance(lines, int) else lines[bad[0]]
        source.refuse(line, f"a probability is {values[bad[0]]:g}; it must lie between 0 and 1.")
