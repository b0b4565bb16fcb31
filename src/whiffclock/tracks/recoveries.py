"""Recoveries in tracks: from a last whiff to the next one, to a gap, or to the end; measured as those of agents.

A recovery begins on the last frame of a whiff. It ends on the first frame of the next one, as the path of an agent on
blanks includes the move that meets odor; or at a gap or the end of its track, and is then cut short by the recording.
Blanks shorter than ``blank`` are no recoveries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.formatting import plainly
from whiffclock.params import InputError, require
from whiffclock.path_metrics import GEOMETRY, Geometry, equal_steps, geometry
from whiffclock.plume.guess import Guess
from whiffclock.tracks.settings import RecoverySettings
from whiffclock.tracks.track import Track, Tracks

if TYPE_CHECKING:
    import pandas as pd

    from whiffclock.policy import Policy

#: Blanks of fewer moves are no recoveries by default.
SHORTEST = 10
_MOST_STEPS = 5e7
#: How a recovery ends.
ENDS = ("whiff", "gap", "end")


@dataclass(frozen=True, eq=False, repr=False)
class Recovery:
    """The way of an individual after a whiff, until the next one."""

    track: Track
    first: int  # its frames in the track, both included
    last: int
    ends: str  # "whiff", or, where the rest is not known, "gap" or "end"
    path: np.ndarray  # float[n, 2], cells from the whiff on; x grows downwind
    steps: np.ndarray  # the same in the steps that are counted
    shape: Geometry  # in cells and steps

    @property
    def seconds(self) -> float:
        """The length of the blank."""
        return float(self.track.t[self.last] - self.track.t[self.first])

    @property
    def censored(self) -> bool:
        """Whether it was cut short by a gap or by the end of the track."""
        return self.ends != "whiff"


@dataclass(frozen=True, eq=False, repr=False)
class Recoveries:
    """All recoveries of some tracks.

    Attributes
    ----------
    found
        One :class:`Recovery` for each.
    settings
        Their settings, with numbers for all defaults.
    cell, unit
        Length of a cell, in the unit of the tracks.
    """

    found: tuple[Recovery, ...]
    settings: RecoverySettings
    cell: float
    unit: str
    said: dict[str, Guess]
    left_out: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        who = len({one.track.individual for one in self.found})
        return f"Recoveries({len(self)} of {who} individuals, steps of equal {self.settings.steps})"

    @property
    def metrics(self) -> np.ndarray:
        """float[recovery, metric] in cells and steps, in the order of ``path_metrics.GEOMETRY``; NaN: no return."""
        values = [[getattr(one.shape, name) for name in GEOMETRY] for one in self.found]
        return np.array(values, dtype=np.float64).reshape(-1, len(GEOMETRY))

    @property
    def individual(self) -> np.ndarray:
        """The individual of each recovery."""
        return np.array([one.track.individual for one in self.found], dtype=str)

    @property
    def condition(self) -> np.ndarray:
        """The condition of each recovery."""
        return np.array([one.track.condition for one in self.found], dtype=str)

    def of(self, condition: str) -> Recoveries:
        """Those in one condition."""
        kept = tuple(one for one in self.found if one.track.condition == condition)
        return Recoveries(kept, self.settings, self.cell, self.unit, self.said, self.left_out)

    def to_rows(self) -> list[dict[str, Any]]:
        """One tidy row for each recovery; lengths in the unit of the tracks, the start of the return in steps."""
        return [
            {
                "individual": one.track.individual,
                "trial": one.track.trial,
                "condition": one.track.condition,
                "start_s": float(one.track.t[one.first]),
                "seconds": one.seconds,
                "ends": one.ends,
                "steps": len(one.steps) - 1,
                **in_units(one.shape, self.cell),
            }
            for one in self.found
        ]

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a table."""
        import pandas as pd

        return pd.DataFrame(self.to_rows())

    def compare(self, policies: Sequence[Policy] = ()) -> pd.DataFrame:
        """Medians, intervals by animal and quartiles of each metric, for the animals and for agents beside them."""
        import pandas as pd

        from whiffclock.tracks.beside import groups_of

        return pd.DataFrame([row for group in groups_of(self, policies) for row in group.to_rows()])


def in_units(shape: Geometry, cell: float) -> dict[str, float]:
    """The metrics with lengths in the unit in which a cell has the length ``cell``; starts remain steps."""
    starts = "downwind_return_start"
    return {name: getattr(shape, name) * (1 if name == starts else cell) for name in GEOMETRY}


def recoveries_of(tracks: Tracks, settings: RecoverySettings | None = None) -> Recoveries:
    """Cut tracks into recoveries and measure them.

    Parameters
    ----------
    tracks
        What :func:`whiffclock.read_tracks` returned, or tracks of your own.
    settings
        The shortest blank, and the steps.

    Returns
    -------
    Recoveries
    """
    settings, said = _settled(tracks, settings or RecoverySettings())
    assert settings.blank is not None
    every = [(track, *cut) for track in tracks.tracks for cut in cuts(track)]
    long = [cut for cut in every if cut[0].t[cut[2]] - cut[0].t[cut[1]] >= settings.blank * (1 - 1e-9)]
    if not long:
        few = f"{tracks.name} has {len(every)} blanks after a whiff, none of {plainly(settings.blank, 3)} s or more"
        raise InputError(f"{few}; --blank takes shorter ones.")
    _require_steps(tracks, settings, long)
    found = tuple(_measured(track, first, last, ends, tracks.cell, settings) for track, first, last, ends in long)
    return Recoveries(found, settings, tracks.cell, tracks.unit, said, _sentences(tracks, every, found, settings))


def _settled(tracks: Tracks, settings: RecoverySettings) -> tuple[RecoverySettings, dict[str, Guess]]:
    """Settings with a number for each default, and what is said of them."""
    said: dict[str, Guess] = {}
    move = settings.move_s
    if move is None and (settings.steps == "time" or settings.blank is None):
        move = tracks.move_s
        slow = f"The individuals of {tracks.name} do not get a cell ({plainly(tracks.cell)} {tracks.unit}) away"
        require(np.isfinite(move), f"{slow}; give a smaller --cell, or --move-s and --blank.")
        said["move"] = Guess(f"{plainly(move, 3)} s", "likely", "usual time for a cell", "--move-s")
    elif move is not None:
        said["move"] = Guess(f"{plainly(move, 3)} s", "given", "by --move-s", "--move-s")
    if settings.blank is None:
        assert move is not None
        blank, why, sure = SHORTEST * move, f"{SHORTEST} moves", "likely"
    else:
        blank, why, sure = settings.blank, "by --blank", "given"
    said["blank"] = Guess(f"{plainly(blank, 3)} s or more", sure, why, "--blank")
    if settings.steps == "time":
        said["steps"] = Guess(f"equal time, {plainly(move or 0, 3)} s", "sure", "", "--steps length")
    else:
        said["steps"] = Guess(f"equal length, {plainly(tracks.cell)} {tracks.unit}", "sure", "", "--steps time")
    return RecoverySettings(blank, settings.steps, move), said


def _require_steps(tracks: Tracks, how: RecoverySettings, cut: list[tuple[Track, int, int, str]]) -> None:
    """Refuse steps so small that nobody can mean them, before they are made."""
    if how.steps == "time":
        assert how.move_s is not None
        count = sum(float(track.t[b] - track.t[a]) for track, a, b, _ in cut) / how.move_s
        small, option = f"{plainly(how.move_s, 3)} s", "--move-s"
    else:
        ways = (np.hypot(*np.diff(track.position[a : b + 1], axis=0).T).sum() for track, a, b, _ in cut)
        count, small, option = sum(map(float, ways)) / tracks.cell, f"{plainly(tracks.cell, 3)} {tracks.unit}", "--cell"
    many = f"The recoveries would have {count:.3g} steps of {small}, and {_MOST_STEPS:.0e} are allowed"
    require(count <= _MOST_STEPS, f"{many}; {option} sets another.")


def cuts(track: Track) -> Iterable[tuple[int, int, str]]:
    """First and last frame of each blank after a whiff, and how it ends."""
    stops = np.flatnonzero(track.whiff)
    gaps = track.gaps
    after = np.concatenate([stops[1:], [len(track) - 1]])[: len(stops)]
    for first, last in zip(stops.tolist(), after.tolist(), strict=True):
        ends = "whiff" if last > first and track.whiff[last] else "end"
        gap = np.searchsorted(gaps, first)
        if gap < len(gaps) and gaps[gap] < last:
            last, ends = int(gaps[gap]), "gap"
        if last > first + (ends == "whiff"):
            yield first, last, ends


def _measured(track: Track, first: int, last: int, ends: str, cell: float, how: RecoverySettings) -> Recovery:
    path = (track.position[first : last + 1] - track.position[first]) / cell
    if how.steps == "length":
        steps = equal_steps(path)
    else:
        assert how.move_s is not None
        steps = equal_times(path, track.t[first : last + 1] - track.t[first], how.move_s)
    return Recovery(track, first, last, ends, path, steps, geometry(path, steps))


def equal_times(path: np.ndarray, t: np.ndarray, step: float) -> np.ndarray:
    """Positions of a path at equal times, on straight lines between its frames; what is left at the end is dropped."""
    count = int(t[-1] / step * (1 + 1e-9) + 1e-6)
    when = np.minimum(step * np.arange(count + 1), t[-1])
    return np.stack([np.interp(when, t, axis) for axis in path.T], axis=1)


def _sentences(tracks: Tracks, every: list, found: tuple[Recovery, ...], how: RecoverySettings) -> tuple[str, ...]:
    """What was left out and cut short."""
    short = len(every) - len(found)
    cut = {ends: sum(one.ends == ends for one in found) for ends in ("gap", "end")}
    who = {one.track.individual for one in found}
    without = [name for name in tracks.individuals if name not in who]
    lines = (
        (short, f"{short:,} blanks shorter than {plainly(how.blank or 0, 3)} s are no recoveries."),
        (cut["gap"], f"{cut['gap']:,} of {len(found):,} recoveries are cut short by a gap."),
        (cut["end"], f"{cut['end']:,} of {len(found):,} recoveries are cut short by the end of the track."),
        (len(without), f"{len(without)} of {len(tracks.individuals)} individuals have no recovery."),
    )
    of = {(one.track.condition, one.track.individual) for one in found}
    groups = [condition for condition, _ in sorted(of)]
    alone = [condition for condition in dict.fromkeys(groups) if groups.count(condition) == 1]
    single = [f"{name or 'All'}: recoveries of one individual, so there is no interval." for name in alone]
    return (*tracks.left_out, *(line for count, line in lines if count), *single)
