"""What a learner observes: kinds by name, their spaces, and their values for many searches.

===============  ========================================================  =====================================
kind             what it is                                                space of one search
===============  ========================================================  =====================================
whiff            1 on a whiff, 0 on a blank                                ``Discrete(2)``
clock            moves since the last whiff, 0 on a whiff, up to           ``Discrete(horizon)``
                 ``horizon - 1``, where it stays
clock:n          the same, up to ``n - 1``                                 ``Discrete(n)``
last:n           the last n whiff bits, the present one last; before the   ``MultiBinary(n)``
                 start there are blanks
concentration    the concentration; 0 off the grid                         ``Box`` of one float32
position         x and y relative to the source, in cells                  ``Box`` of two int32
===============  ========================================================  =====================================

The clock is that of ``whiffclock.clock(n)``: a search that starts on a blank begins at 1, on a whiff at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from whiffclock.params import InputError, require, require_memory
from whiffclock.plain_values import shown
from whiffclock.plume import Plume
from whiffclock.plume.whiffs import single
from whiffclock.world.searches import CLOCK, X, Y

#: Kinds, and whether a number belongs to them: never, if wanted, always.
_NUMBER = {"whiff": "never", "clock": "maybe", "last": "always", "concentration": "never", "position": "never"}
_CHOICES = "whiff, clock, clock:n, last:n, concentration or position"
_LONGEST = 100_000
_BITS = np.int64(0), np.int64(1)


@dataclass(frozen=True)
class Kind:
    """One kind of observation."""

    name: str
    size: int = 0  # of the clock, or number of last observations

    @classmethod
    def of(cls, text: Any, horizon: int) -> Kind:
        """The kind that a text such as ``"last:4"`` names."""
        refused = InputError(f"The observation is {shown(text)}; it must be {_CHOICES}.")
        name, colon, number = text.partition(":") if isinstance(text, str) else ("", "", "")
        wanted = {"never": (False,), "maybe": (False, True), "always": (True,)}.get(_NUMBER.get(name, ""), ())
        if bool(colon) not in wanted or (colon and not (number.isascii() and number.isdigit())):
            raise refused
        size = int(number) if colon else max(2, horizon)
        least = 2 if name == "clock" else 1
        right = least <= size <= _LONGEST
        require(right, f"The observation is {shown(text)}; its number must lie between {least} and {_LONGEST}.")
        return cls(name, size)


class Observations:
    """The observations that were chosen: ``"whiff"``, or several, as in ``["whiff", "position"]``, by name."""

    def __init__(self, chosen: str | Sequence[str], plume: Plume, horizon: int) -> None:
        several = isinstance(chosen, list | tuple)
        texts = list(chosen) if several else [chosen]
        self.kinds = {str(text): Kind.of(text, horizon) for text in texts}
        once = len(self.kinds) == len(texts) > 0
        require(once, f"The observations are {shown(chosen)}; they must be {_CHOICES}, one or more, each once.")
        self._source = np.array(plume.source)
        #: Concentrations [t, x, y], empty if they are not observed; and how many of the last observations are kept.
        self.field = _field(plume) if "concentration" in self.kinds else np.empty((0, 0, 0), dtype=np.float32)
        self.recent = max((kind.size for kind in self.kinds.values() if kind.name == "last"), default=0)
        self._corner = np.array(plume.field.shape[1:]) - 1
        each: dict[str, spaces.Space] = {text: self._space(kind, horizon) for text, kind in self.kinds.items()}
        self._only = None if several else self.kinds[str(chosen)]
        self.space: spaces.Space = spaces.Dict(each) if several else each[str(chosen)]

    def _space(self, kind: Kind, horizon: int) -> spaces.Space:
        if kind.name == "last":
            return spaces.MultiBinary(kind.size)
        if kind.name == "concentration":
            low, high = min(self.field.min(), np.float32(0)), max(self.field.max(), np.float32(0))
            return spaces.Box(low, high, (1,), np.float32)
        if kind.name == "position":
            low, high = -self._source - horizon, self._corner - self._source + horizon
            return spaces.Box(low.astype(np.int32), high.astype(np.int32), dtype=np.int32)
        return spaces.Discrete(2 if kind.name == "whiff" else kind.size)

    def of(self, state: np.ndarray, recent: np.ndarray, odor: np.ndarray) -> Any:
        """What all searches observe, in new arrays: one, or a dictionary of them."""
        if self._only is not None:
            return self._values(self._only, state, recent, odor)
        return {text: self._values(kind, state, recent, odor) for text, kind in self.kinds.items()}

    def of_one(self, values: Any, i: int) -> Any:
        """What one search observes, from what all observe."""
        if self._only is None:
            return {text: some[i] for text, some in values.items()}
        return values[i]

    def of_first(self, now: list[int], recent: np.ndarray, odor: np.ndarray) -> Any:
        """What the only search observes, in new arrays; ``now`` is its state. The same as :meth:`of_one`, faster."""
        if self._only is not None:
            return self._value(self._only, now, recent, odor)
        return {text: self._value(kind, now, recent, odor) for text, kind in self.kinds.items()}

    def _value(self, kind: Kind, now: list[int], recent: np.ndarray, odor: np.ndarray) -> Any:
        if kind.name == "whiff":
            return _BITS[now[CLOCK] == 0]
        if kind.name == "clock":
            return np.int64(min(now[CLOCK], kind.size - 1))
        if kind.name == "last":
            return recent[0, self.recent - kind.size :].copy()
        if kind.name == "concentration":
            return odor.copy()
        return (np.array(now[X : Y + 1]) - self._source).astype(np.int32)

    def _values(self, kind: Kind, state: np.ndarray, recent: np.ndarray, odor: np.ndarray) -> np.ndarray:
        if kind.name == "whiff":
            return (state[CLOCK] == 0).astype(np.int64)
        if kind.name == "clock":
            return np.minimum(state[CLOCK], kind.size - 1)
        if kind.name == "last":
            return recent[:, self.recent - kind.size :].copy()
        if kind.name == "concentration":
            return odor[:, None].copy()
        return (state[X : Y + 1].T - self._source).astype(np.int32)


def _field(plume: Plume) -> np.ndarray:
    """All concentrations in memory."""
    needed = 4 * int(np.prod(plume.field.shape, dtype=object))
    require_memory(needed, "The concentrations of the plume in memory")
    return single(plume.field[:])
