"""Tables of several axes as files give them: piece by piece, later entries overriding earlier ones.

A table is kept as a sparse matrix: its last axis gives the columns, all others together the rows. Whether an
entry survives is settled once, at the end: it does if no later entry set its whole row or its very cell.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from whiffclock.params import InputError
from whiffclock.pomdp.files.source import Source
from whiffclock.pomdp.tabular import SUM_TOLERANCE


class Table:
    """A table of numbers over axes of the given sizes, zero where nothing is set."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        n_rows = math.prod(self.sizes[:-1])
        self.lines = np.zeros(n_rows, dtype=np.int64)  # the last line of the file that said something about each row
        self._reset = np.zeros(n_rows, dtype=np.int64)  # number of the last entry that set the whole row
        self._rows: list[np.ndarray] = []
        self._columns: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def set(self, box: Sequence[np.ndarray], values: np.ndarray | float, line: int) -> None:
        """Set the cells in ``box``, the positions along each axis, to ``values``, which broadcast to it."""
        rows, columns = np.zeros(1, dtype=np.int64), box[-1]
        for positions, size in zip(box[:-1], self.sizes[:-1], strict=True):
            rows = (rows[:, None] * size + positions).ravel()
        block = np.broadcast_to(values, [len(axis) for axis in box]).reshape(len(rows), len(columns))
        whole = len(columns) == self.sizes[-1]
        if whole:
            self._reset[rows] = len(self._rows)
        at_row, at_column = np.nonzero(block if whole else np.ones_like(block))
        self._rows.append(rows[at_row])
        self._columns.append(columns[at_column])
        self._values.append(block[at_row, at_column])
        self.lines[rows] = line

    def matrix(self) -> sp.csr_array:
        """What the entries amount to, [row, column], with no zeros stored."""
        shape = (len(self.lines), self.sizes[-1])
        if not self._rows:
            return sp.csr_array(shape)
        rows, columns, values = (np.concatenate(part) for part in (self._rows, self._columns, self._values))
        number = np.repeat(np.arange(len(self._rows)), [len(part) for part in self._rows])
        kept = np.flatnonzero(number >= self._reset[rows])
        cell = rows[kept] * shape[1] + columns[kept]
        order = np.argsort(cell, kind="stable")
        last = np.append(cell[order][1:] != cell[order][:-1], True)[: len(order)]
        kept = kept[order[last]]
        kept = kept[values[kept] != 0]
        return sp.csr_array((values[kept], (rows[kept], columns[kept])), shape=shape)

    def distributions(self, source: Source, name: Callable[[int], str]) -> sp.csr_array:
        """The table as probabilities whose rows sum to one; ``name`` tells a bad row to the user."""
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


def require_probabilities(source: Source, values: np.ndarray, lines: Sequence[int] | int) -> None:
    """Every value lies between 0 and 1; ``lines`` says where each stands, or all do."""
    if values.size and (values.min() < 0 or values.max() > 1 + SUM_TOLERANCE):
        bad = np.flatnonzero((values < 0) | (values > 1 + SUM_TOLERANCE))
        line = lines if isinstance(lines, int) else lines[bad[0]]
        source.refuse(line, f"a probability is {values[bad[0]]:g}; it must lie between 0 and 1.")
