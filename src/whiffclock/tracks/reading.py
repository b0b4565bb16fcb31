"""From a file to tracks: units, times, wind and whiffs are given, stated by the file, or guessed and said.

The rules of the guesses:

- Units: those in the names of the columns or in the dataset; otherwise they must be given.
- Cell, the length of one move of an agent: where all moves from frame to frame have one length, this; otherwise the
  median distance that the individuals get in a quarter of a second, to one digit.
- Times: a column called frame counts frames, and needs the frame rate; other times are seconds.
- Wind: a column of angles; otherwise towards larger x is assumed.
- Whiffs: a column of 0 and 1 is taken as it is. Of a concentration, the background is the median, the noise that of the
  values below it, and a whiff is what exceeds the background by five times the noise; without noise, by a hundredth of
  the largest value.

Rows without time, position or odor are left out and counted. They leave gaps, which end recoveries, unless
``interpolate`` fills them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.disk import require_file
from whiffclock.formatting import plainly
from whiffclock.params import LARGEST_FLOAT, InputError, require, require_memory
from whiffclock.plume.guess import Guess
from whiffclock.tracks.columns import LABELS, Raw, array_columns, is_array, table_columns
from whiffclock.tracks.settings import UNITS, TrackSettings
from whiffclock.tracks.track import GAP, Track, Tracks, equal_moves, usual_distance

#: A whiff is this many times the noise above the background; without noise, this share of the largest value.
_CLEAR, _SHARE = 5.0, 0.01
#: The wind of a trial may scatter so that the mean of its directions, as arrows, has at least this length.
_STEADY = 0.9
#: Time in s in which an individual moves about a cell, if nothing is known of it.
_GLANCE = 0.25


def read_tracks(path: Path | str, **settings: Any) -> Tracks:
    """Read trajectories of animals or robots: CSV, Parquet, NetCDF of ``movement``, or arrays of walking flies.

    Parameters
    ----------
    path
        The file. A table needs columns for x, y and odor or whiffs; columns for t, trial, individual, condition and
        wind are taken where they are.
    **settings
        What the file does not say: ``columns={"t": "time", "x": "pos_x"}``, ``units="mm"``, ``cell=2.5`` (length of
        one move of an agent), ``fps``, ``wind`` ("left", or degrees), ``threshold``, ``interpolate``, ``keypoint``;
        see :class:`whiffclock.tracks.settings.TrackSettings`.

    Returns
    -------
    Tracks
        ``said`` has each assumption, with its reason; ``recoveries()`` cuts and measures them.

    Examples
    --------
    >>> from pathlib import Path
    >>> import whiffclock as wc
    >>> rows = [f"{t},{-t % 7},0,{int(t % 9 == 0)}" for t in range(60)]
    >>> _ = Path("walk.csv").write_text("\\n".join(["t,x,y,whiff", *rows]))
    >>> tracks = wc.read_tracks("walk.csv", units="cells")
    >>> tracks
    Tracks(1 tracks of 1 individuals, 60 frames, in cells, cell 1, walk.csv)
    >>> tracks.said["wind"].value
    'right'
    """
    how = TrackSettings(**settings)
    path = Path(path)
    return assembled(read_columns(path, how), how)


def read_columns(path: Path, how: TrackSettings) -> Raw:
    """The columns of a file of any kind."""
    import h5py

    require_file(path)
    given = how.columns or {}
    if path.suffix.lower() in (".nc", ".h5", ".hdf5") or h5py.is_hdf5(path):
        from whiffclock.tracks.movement import dataset_columns

        return dataset_columns(path, given, how.keypoint)
    require(how.keypoint is None, f"{path} has no keypoints; leave out --keypoint.")
    return array_columns(path, given) if is_array(path) else table_columns(path, given)


def assembled(raw: Raw, how: TrackSettings) -> Tracks:
    """Tracks from columns."""
    said = raw.said
    unit = _unit(raw, how)
    _count_seconds(raw, how)
    whiffs, known_odor = _whiffs(raw, how)
    _require_range(raw)
    order, borders = _groups(raw)
    known = known_odor & np.isfinite(raw.values["t"]) & np.isfinite(raw.values["x"]) & np.isfinite(raw.values["y"])
    columns = {role: raw.values[role] for role in ("t", "x", "y")}
    winds = raw.values.get("wind")
    made: list[Track] = []
    left, lost, doubled, filled, angles = 0, 0, 0, 0, []
    for begin, end in pairwise(borders):
        rows = slice(begin, end) if order is None else order[begin:end]
        good = known[rows]
        lost += len(good) - int(good.sum())
        if not good.any():
            left += 1
            continue
        first = rows.start if isinstance(rows, slice) else rows[0]
        names = {label: labels[codes[first]] for label, (codes, labels) in raw.labels.items()}
        where = f"{raw.name}: {_who(names)}"
        t, x, y = (columns[role][rows][good] for role in ("t", "x", "y"))
        whiff = whiffs[rows][good]
        fresh = _rising(t, x, y, whiff, where)
        doubled += len(t) - int(fresh.sum())
        t, x, y, whiff = t[fresh], x[fresh], y[fresh], whiff[fresh]
        if winds is not None and how.degrees is None:
            angles.append(_mean_angle(winds[rows], where))
        angle = angles[-1] if angles else how.degrees or 0.0
        track = Track(t, _turned(x, y, angle), whiff, names.get("individual", ""), names.get("trial", ""))
        track = replace(track, condition=names.get("condition", ""))
        track, more = _filled(track, how.interpolate)
        filled += more
        made.append(track)
    del raw.values
    require(bool(made), f"{raw.name} has no frame with time, position and odor.")
    require(any(track.whiff.any() for track in made), f"{raw.name} has no whiff at all; {_if_threshold(said)}.")
    made = _named(made, raw, said)
    if how.degrees is not None:
        said["wind"] = Guess(how.wind, "given", "by --wind", "--wind")
    elif winds is None:
        said["wind"] = Guess("right", "unclear", "assumed: it blows towards larger x", "--wind")
    else:
        middle = plainly(round(_mean_angle(np.array(angles), raw.name, 0.0)), 4)
        said["wind"] = Guess(f"{middle} degrees", "sure", "mean of the column, each track by its own", "--wind")
    left_out = _left_out(made, lost, left, doubled, filled, how)
    return Tracks(tuple(made), unit, _cell(made, unit, how, said), raw.name, said, left_out)


def _unit(raw: Raw, how: TrackSettings) -> str:
    stated = raw.units.get("x")
    stated = stated if stated in UNITS else {"pixels": "px", "pixel": "px", "cell": "cells"}.get(stated or "")
    must = f"{raw.name} does not say the unit of x and y; give it with --units {'|'.join(UNITS)}"
    require(bool(how.units or stated), f"{must}.")
    raw.said["units"] = Guess(how.units or stated, *(("given", "by --units") if how.units else ("sure", "of the file")))
    raw.said["units"] = replace(raw.said["units"], option="--units")
    return str(how.units or stated)


def _count_seconds(raw: Raw, how: TrackSettings) -> None:
    """Times in seconds, from seconds or from frames and their rate."""
    n = len(raw.values["x"])
    rate = how.fps or raw.fps
    counted = "t" not in raw.values or raw.frames
    if "t" not in raw.values:
        require("trial" not in raw.labels and "individual" not in raw.labels, f"{raw.name} needs a column of times.")
        raw.values["t"] = np.arange(n, dtype=np.float64)
    t = raw.values["t"]
    if not counted and how.fps:
        known = t[np.isfinite(t)]
        counted = bool((known == np.round(known)).all())
        require(counted, f"The times of {raw.name} are no numbers of frames; leave out --fps.")
    if counted:
        require(rate is not None, f"The times of {raw.name} count frames; give the frames per second with --fps.")
        assert rate is not None
        t /= rate
        why = "by --fps" if how.fps else "of the file"
        raw.said["time"] = Guess(f"frames, {plainly(rate)} per s", "given" if how.fps else "sure", why, "--fps")
    elif raw.units.get("t") == "ms":
        t /= 1000
        raw.said["time"] = Guess("ms", "sure", "name of the column", "")
    else:
        sure = raw.units.get("t") == "s"
        why = "name of the column" if sure else "assumed"
        raw.said["time"] = Guess("s", "sure" if sure else "likely", why, "" if sure else "--fps, if frames")


def _whiffs(raw: Raw, how: TrackSettings) -> tuple[np.ndarray, np.ndarray]:
    """Where odor is a whiff, and where it is known."""
    role = "whiff" if "whiff" in raw.values else "odor"
    odor = raw.values.pop(role)
    known = np.isfinite(odor)
    binary = bool(((odor == 0) | (odor == 1) | ~known).all())
    if how.threshold is None and binary:
        raw.said["whiffs"] = Guess("as stored", "sure", "all values are 0 or 1", "--threshold")
        return odor == 1, known
    values = odor[known]
    require(len(values) > 0, f"{raw.name} has no value of odor.")
    if isinstance(how.threshold, float):
        threshold = how.threshold
        raw.said["whiffs"] = Guess(f"odor >= {plainly(threshold)}", "given", "by --threshold", "--threshold")
    else:
        threshold, why = clear_of_noise(values)
        raw.said["whiffs"] = Guess(f"odor >= {plainly(threshold)}", "likely", why, "--threshold")
    share = float((values >= threshold).mean())
    raw.said["whiffs"] = replace(raw.said["whiffs"], because=f"{raw.said['whiffs'].because}; {share:.1%} of the frames")
    return np.greater_equal(odor, threshold, where=known, out=np.zeros(len(odor), dtype=bool)), known


def clear_of_noise(odor: np.ndarray) -> tuple[float, str]:
    """The threshold of a concentration by the rule of this module, and how it came about."""
    background, highest = float(np.median(odor)), float(odor.max())
    require(highest > background, f"The odor never exceeds its median, {plainly(background)}; give --threshold.")
    below = odor[odor < background]
    noise = 1.4826 * float(np.median(background - below)) if len(below) > 0.05 * len(odor) else 0.0
    above = max(_CLEAR * noise, _SHARE * (highest - background))
    threshold = float(f"{background + above:.4g}")
    return threshold, f"background {plainly(background, 3)}, noise {plainly(noise, 3)}"


def _require_range(raw: Raw) -> None:
    """Refuse numbers whose squares overflow."""
    for role, values in raw.values.items():
        known = values[np.isfinite(values)]
        far = float(np.abs(known).max(initial=0.0))
        require(far <= LARGEST_FLOAT, f"{raw.name}: {role} has the value {plainly(far)}; it must be at most 1e30.")


def _groups(raw: Raw) -> tuple[np.ndarray | None, np.ndarray]:
    """Rows by track: their order (None: as they are), and the borders between tracks."""
    n = len(raw.values["x"])
    code = np.zeros(n, dtype=np.int64)
    for label in LABELS:
        if label in raw.labels:
            codes, names = raw.labels[label]
            code = code * len(names) + codes
    changes = np.flatnonzero(np.diff(code)) + 1
    runs = np.concatenate([[0], changes, [n]])
    if len(np.unique(code[runs[:-1]])) == len(runs) - 1:
        return None, runs
    order = np.argsort(code, kind="stable")
    return order, np.concatenate([[0], np.flatnonzero(np.diff(code[order])) + 1, [n]])


def _rising(t: np.ndarray, x: np.ndarray, y: np.ndarray, whiff: np.ndarray, where: str) -> np.ndarray:
    """The frames that are no copies of the one before; times that go back are refused, as are two places at a time."""
    ahead = np.diff(t)
    if len(back := np.flatnonzero(ahead < 0)):
        at = back[0]
        times = f"its time goes back from {plainly(t[at])} to {plainly(t[at + 1])} s"
        raise InputError(f"{where}: {times}; sort the rows, or name the columns of trial and individual.")
    twice = np.flatnonzero(ahead == 0)
    other = (x[twice] != x[twice + 1]) | (y[twice] != y[twice + 1]) | (whiff[twice] != whiff[twice + 1])
    if other.any():
        when = plainly(t[twice[other.argmax()]])
        raise InputError(f"{where}: it has two different frames at {when} s; name the columns of trial and individual.")
    return np.concatenate([[True], ahead > 0])


def _mean_angle(degrees: np.ndarray, where: str, least: float = _STEADY) -> float:
    """The mean direction of the wind, which must be known and steady."""
    known = np.exp(1j * np.radians(degrees[np.isfinite(degrees)]))
    require(len(known) > 0, f"{where}: its wind is not known; give it with --wind.")
    mean = complex(known.mean())
    turns = (
        f"{where}: its wind turns (mean of the arrows {abs(mean):.2f}), and a track has one wind; cut it into trials"
    )
    require(abs(mean) >= least, f"{turns}.")
    return math.degrees(math.atan2(mean.imag, mean.real))


def _turned(x: np.ndarray, y: np.ndarray, degrees: float) -> np.ndarray:
    """Positions turned so that the wind blows along x; by exact numbers for quarter turns."""
    angle = math.radians(degrees)
    c, s = (float(round(part)) if degrees % 90 == 0 else part for part in (math.cos(angle), math.sin(angle)))
    made = np.empty((len(x), 2))
    np.add(c * x, s * y, out=made[:, 0])
    np.subtract(c * y, s * x, out=made[:, 1])
    return made


def _filled(track: Track, seconds: float) -> tuple[Track, int]:
    """A track with short gaps filled: positions by straight lines, blanks for odor; and the number of these frames."""
    gaps = track.gaps
    if not seconds or not len(gaps):
        return track, 0
    t = [track.t]
    for i in gaps:
        if track.t[i + 1] - track.t[i] <= seconds + GAP * track.interval:
            count = round((track.t[i + 1] - track.t[i]) / track.interval)
            require_memory(64 * count, f"A gap of {plainly(track.t[i + 1] - track.t[i], 3)} s that is filled")
            t.append(np.linspace(track.t[i], track.t[i + 1], count + 1)[1:-1])
    every = np.concatenate(t)
    order = np.argsort(every, kind="stable")
    position = np.stack([np.interp(every, track.t, axis) for axis in track.position.T], axis=1)[order]
    whiff = np.concatenate([track.whiff, np.zeros(len(every) - len(track), dtype=bool)])[order]
    return replace(track, t=every[order], position=position, whiff=whiff), len(every) - len(track)


def _named(made: list[Track], raw: Raw, said: dict[str, Guess]) -> list[Track]:
    """Each track with an individual and a trial, and what these are by default."""
    if "individual" in raw.labels:
        count = len({one.individual for one in made})
        said["individuals"] = Guess(count, "sure", "column individual", "--columns")
        return [replace(one, trial=one.trial or "1") for one in made]
    if len(made) > 1:
        why = "no column: each track counts as an individual"
        said["individuals"] = Guess(len(made), "unclear", why, "--columns")
    else:
        said["individuals"] = Guess(1, "likely", "one track", "--columns")
    return [replace(one, individual=one.trial or "1", trial=one.trial or "1") for one in made]


def _cell(made: list[Track], unit: str, how: TrackSettings, said: dict[str, Guess]) -> float:
    if how.cell is not None:
        said["cell"] = Guess(f"{plainly(how.cell)} {unit}", "given", "by --cell", "--cell")
        return how.cell
    if unit == "cells":
        said["cell"] = Guess("1 cells", "sure", "the unit is cells", "--cell")
        return 1.0
    step = equal_moves(made)
    if step is not None:
        cell, why, sure = float(f"{step:.4g}"), "all moves have this length", "sure"
    else:
        cell, why, sure = (
            float(f"{usual_distance(made, _GLANCE):.1g}"),
            f"median distance moved in {plainly(_GLANCE)} s",
            "unclear",
        )
        require(cell > 0, "Half of the time nothing moves, so no cell can be guessed; give its size with --cell.")
    said["cell"] = Guess(f"{plainly(cell)} {unit}", sure, why, "--cell")
    return cell


def _who(names: dict[str, str]) -> str:
    return ", ".join(f"{label} {name}" for label, name in names.items()) or "the track"


def _if_threshold(said: dict[str, Guess]) -> str:
    return f"whiffs are {said['whiffs'].value}; --threshold says otherwise"


def _left_out(made: list[Track], lost: int, left: int, doubled: int, filled: int, how: TrackSettings) -> list[str]:
    """A sentence for all that was left out or filled."""
    gaps = sum(len(one.gaps) for one in made)
    none = sum(not one.whiff.any() for one in made)
    kept = "kept as gaps" if not how.interpolate else f"those of more than {plainly(how.interpolate)} s are kept"
    every = (
        (lost, f"{lost:,} frames without time, position or odor were left out."),
        (left, f"{left:,} tracks have no frame that is known."),
        (doubled, f"{doubled:,} frames are copies of the one before and were left out."),
        (
            gaps,
            f"{gaps:,} gaps in time; {kept}: a recovery ends there (--interpolate S fills gaps of up to S seconds).",
        ),
        (filled, f"{filled:,} frames in gaps were filled by straight lines, as blanks."),
        (none, f"{none:,} of {len(made):,} tracks have no whiff, and so no recovery."),
    )
    return [sentence for count, sentence in every if count]
