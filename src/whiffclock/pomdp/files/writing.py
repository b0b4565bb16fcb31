"""Models as Cassandra's ``.pomdp`` files, for other programs: one entry for everything that can happen."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from whiffclock.disk import write_whole
from whiffclock.params import require
from whiffclock.pomdp.tabular import TabularModel

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
#: Words of the format, which no name may be.
_WORDS = {
    "discount",
    "values",
    "states",
    "actions",
    "observations",
    "start",
    "include",
    "exclude",
    "uniform",
    "identity",
}
_WORDS |= {"reset", "reward", "cost", "T", "O", "R"}


def write_pomdp(model: TabularModel, path: Path, about: str = "") -> None:
    """Write a model; ``about`` becomes a comment. Names that the format does not allow are left out, as numbers."""
    if model.visible is not None:
        single = len(np.unique(model.visible[model.initial > 0])) == 1
        why = "its visible variables are seen before the first action, which the format cannot say"
        require(single, f"{path} cannot hold this model: {why}.")
    comment = "".join(f"# {line}\n" for line in about.splitlines())
    write_whole(path, lambda file: file.writelines(line.encode() for line in (comment, *_lines(model))))


def _lines(model: TabularModel) -> Iterator[str]:
    yield f"discount: {_number(model.discount)}\nvalues: reward\n"
    words = {}
    for kind in ("states", "actions", "observations"):
        names = getattr(model, kind)
        fit = all(_NAME.fullmatch(name) and name not in _WORDS for name in names) and len(set(names)) == len(names)
        words[kind] = names if fit else tuple(map(str, range(len(names))))
        yield f"{kind}: {' '.join(names) if fit else len(names)}\n"
    states = words["states"]
    yield f"start: {' '.join(map(_number, model.initial))}\n\n"
    for letter, columns in (("T", "states"), ("O", "observations")):
        matrices = model.transition if letter == "T" else model.observation
        alike = len(matrices) > 1 and all(_same(matrices[0], other) for other in matrices[1:])
        for action, matrix in zip(("*",) if alike else words["actions"], matrices, strict=False):
            entries = sp.coo_array(matrix)
            for row, column, value in zip(entries.row, entries.col, entries.data, strict=True):
                yield f"{letter}: {action} : {states[row]} : {words[columns][column]} {_number(value)}\n"
    for a, s in np.argwhere(model.reward != 0):
        yield f"R: {words['actions'][a]} : {states[s]} : * : * {_number(model.reward[a, s])}\n"


def _same(one: sp.csr_array, other: sp.csr_array) -> bool:
    return one is other or (one.nnz == other.nnz and abs(one - other).max() == 0)


def _number(value: float) -> str:
    """As many digits as make the same number again, without an exponent, which not every reader knows."""
    return np.format_float_positional(value, trim="0")
