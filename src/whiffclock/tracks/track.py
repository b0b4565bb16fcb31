"""Tracks: positions and whiffs of individuals in time, turned so that the wind blows along x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.formatting import nan_to_null, plainly
from whiffclock.params import require
from whiffclock.plume.guess import Guess

if TYPE_CHECKING:
    from whiffclock.tracks.recoveries import Recoveries

#: Frames farther apart than this many usual intervals have a gap between them.
GAP = 1.5
#: Most frames from which speed and cell are guessed.
_LOOKED_AT = 200_000
#: Corners and jitter keep displacements a little short of the way.
_REACHED = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Track:
    """One trial of one individual: the frames in which position and odor are known."""

    t: np.ndarray  # float[n], s, rising
    position: np.ndarray  # float[n, 2], in the unit of the tracks; x grows downwind
    whiff: np.ndarray  # bool[n]
    individual: str = "1"
    trial: str = "1"
    condition: str = ""

    def __post_init__(self) -> None:
        n = len(self.t)
        fit = self.position.shape == (n, 2) and self.whiff.shape == (n,)
        require(fit, f"A track has {n} times; it needs as many positions (x, y) and whiffs.")

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def interval(self) -> float:
        """The usual time between two frames; NaN for a single one."""
        return float(np.median(np.diff(self.t))) if len(self.t) > 1 else float("nan")

    @cached_property
    def gaps(self) -> np.ndarray:
        """The frames after which something is missing."""
        return np.flatnonzero(np.diff(self.t) > GAP * self.interval)


@dataclass(frozen=True, eq=False, repr=False)
class Tracks:
    """All tracks of a file.

    Attributes
    ----------
    tracks
        One for each trial of each individual.
    unit, cell
        Unit of positions, and the length of one move of an agent in it.
    said
        What was given, read or guessed, each with its reason and the option that says otherwise.
    left_out
        A sentence for all that was left out.
    """

    tracks: tuple[Track, ...]
    unit: str
    cell: float
    name: str = "tracks"
    said: Mapping[str, Guess] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.tracks)

    def __repr__(self) -> str:
        frames = sum(map(len, self.tracks))
        who = f"{len(self)} tracks of {len(self.individuals)} individuals, {frames:,} frames"
        return f"Tracks({who}, in {self.unit}, cell {plainly(self.cell, 4)}, {self.name})"

    @property
    def individuals(self) -> list[str]:
        """Names of the individuals, in order of appearance."""
        return list(dict.fromkeys(one.individual for one in self.tracks))

    @property
    def conditions(self) -> list[str]:
        """Names of the conditions, in order of appearance; one empty name if there are none."""
        return list(dict.fromkeys(one.condition for one in self.tracks))

    @cached_property
    def move_s(self) -> float:
        """The usual time in which an individual gets one cell away, in s."""
        return usual_time(self.tracks, self.cell)

    def recoveries(self, **settings: Any) -> Recoveries:
        """The tracks cut into recoveries and measured; see :func:`whiffclock.tracks.recoveries.recoveries_of`.

        ``settings`` are ``blank``, ``steps`` and ``move_s``; see :class:`whiffclock.tracks.settings.RecoverySettings`.
        """
        from whiffclock.tracks.recoveries import recoveries_of
        from whiffclock.tracks.settings import RecoverySettings

        return recoveries_of(self, RecoverySettings(**settings))

    def to_dict(self) -> dict[str, Any]:
        """What was read, as plain values, ready for JSON."""
        about = {"name": self.name, "tracks": len(self), "individuals": len(self.individuals), "unit": self.unit}
        about |= {"frames": sum(map(len, self.tracks)), "cell": self.cell, "conditions": self.conditions}
        said = {name: one.to_dict() for name, one in self.said.items()}
        return nan_to_null(about | {"said": said, "left_out": list(self.left_out)})


def usual_time(tracks: Sequence[Track], cell: float) -> float:
    """The shortest time, in whole frames, in which half of the displacements reach a cell; NaN if none do."""
    some = _some(tracks)
    for lag in _lags(max(map(len, some), default=0)):
        far = [np.hypot(*(one.position[lag:] - one.position[:-lag]).T) for one in some if len(one) > lag]
        if np.median(np.concatenate(far)) >= _REACHED * cell:
            return lag * float(np.median([one.interval for one in some if len(one) > 1]))
    return float("nan")


def usual_distance(tracks: Sequence[Track], seconds: float) -> float:
    """The median displacement in a time, or in the time of a frame if that is longer."""
    some = [one for one in _some(tracks) if len(one) > 1]
    lags = [max(1, round(seconds / one.interval)) for one in some]
    far = [np.hypot(*(one.position[lag:] - one.position[:-lag]).T) for one, lag in zip(some, lags, strict=True)]
    every = np.concatenate([np.zeros(0), *far])
    return float(np.median(every)) if len(every) else float("nan")


def equal_moves(tracks: Sequence[Track]) -> float | None:
    """The length of all moves from frame to frame, if they have one length, as on a grid."""
    far = np.concatenate([np.zeros(0), *(np.hypot(*np.diff(one.position, axis=0).T) for one in _some(tracks))])
    middle = float(np.median(far)) if len(far) else 0.0
    same = np.abs(far - middle) < 0.02 * middle
    return middle if middle > 0 and same.mean() > 0.95 else None


def _some(tracks: Sequence[Track]) -> list[Track]:
    """Some of the tracks, with enough frames to see how fast they are."""
    every = sum(map(len, tracks)) // _LOOKED_AT + 1
    return [one for one in tracks[::every] if len(one) > 1]


def _lags(longest: int) -> list[int]:
    """Lags in frames that rise by one, and later by a twentieth."""
    lags = [1]
    while lags[-1] < longest - 1:
        lags.append(max(lags[-1] + 1, lags[-1] * 21 // 20))
    return [lag for lag in lags if lag < longest]
