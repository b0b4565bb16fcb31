"""What is this recording? All that can be said of it before it is used, from a sample of its values.

Axes and wind are found as in :mod:`whiffclock.plume.orientation`, thresholds as in :mod:`whiffclock.plume.suggest`,
and the rest as in :mod:`whiffclock.plume.guess`. Nothing is decided silently: each guess has a confidence and names
the option that corrects it, and the settings that follow are those of the next command.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.environments import Environments
from whiffclock.formatting import nan_to_null, short
from whiffclock.params import InputError, require
from whiffclock.plume import guess
from whiffclock.plume import orientation as turns
from whiffclock.plume.glance import Glance, glance, hot_pixels, thinned
from whiffclock.plume.motion import Motion, motion
from whiffclock.plume.plume import Plume
from whiffclock.plume.reading.containers import Found
from whiffclock.plume.reading.files import Reader, found_in
from whiffclock.plume.reading.layouts import PAPER_SHAPE, ReadSettings, Wind, named_axes
from whiffclock.plume.reading.settings_file import with_settings_files
from whiffclock.plume.reading.turning import turned
from whiffclock.plume.suggest import Suggestion, suggest_environments
from whiffclock.plume.whiffs import single

#: Most snapshots that thresholds are found in.
MOST_THRESHOLDED = 3000
#: Whiff probabilities that are taken where those of the paper would need thresholds in the noise.
RARE = (0.2, 0.1, 0.05, 0.02), (0.02, 0.01, 0.005, 0.002)
#: What kind of file it is, by its ending.
KINDS = {
    ".npy": "NumPy array",
    ".npz": "NumPy archive",
    ".nc": "NetCDF",
    ".zarr": "Zarr",
    ".mat": "MATLAB v7.3",
    **dict.fromkeys((".h5", ".hdf5", ".hdf"), "HDF5"),
}


@dataclass(frozen=True, eq=False)
class PlumeCheck:
    """What was seen of a recording. Pictures are turned so that x grows downwind."""

    name: str
    recording: Path | None  # its file
    kind: str
    stored: tuple[int, ...]  # shape
    dtype: str
    snapshots: int
    grid: tuple[int, int]  # cells along and across the wind
    lowest: float
    highest: float
    noise: float
    guesses: dict[str, guess.Guess]  # axes, wind, speed, background, odor, saturated, hot_pixels, source, moves
    second: turns.Reading  # the second best reading
    ambiguous: bool  # whether it is about as likely as the best
    motion: Motion  # in blocks of cells, turned
    view: Glance  # of the odor, turned: less the background, and brighter where there is more
    suggestion: Suggestion | None
    maps: dict[str, np.ndarray]  # float[x, y]: whiff probability by environment, in suggested cells
    values: np.ndarray  # some of the values as the next command reads them
    settings: dict[str, Any]  # of that reading, as ReadSettings calls them
    odd: tuple[str, ...]  # sentences about what needs a person's eye
    next: tuple[str, ...]  # commands

    @property
    def merged(self) -> int:
        """Cells in one, as suggested."""
        return int(self.guesses["moves"].value["downsample"])

    def require_oriented(self) -> None:
        """Refuse a recording with two readings that are about as likely."""
        readings = f"--axes {self.guesses['axes'].value} --wind {self.guesses['wind'].value}", str(self.second)
        both = f"{self.name} can be read in two ways that are about as likely: {' or '.join(dict.fromkeys(readings))}"
        require(not self.ambiguous, f"{both}; give the right one.")

    def require_clear(self) -> None:
        """Refuse a recording with two readings that are about as likely, or without suitable thresholds."""
        self.require_oriented()
        known = {"environments", "whiff_probability"} & self.settings.keys()
        require(bool(known), f"{self.name} has no thresholds by the usual rule; give them with --thresholds.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; without pictures."""
        found = self.suggestion
        return nan_to_null(
            {
                "name": self.name,
                "kind": self.kind,
                "stored_shape": self.stored,
                "type": self.dtype,
                "snapshots": self.snapshots,
                "grid": self.grid,
                "lowest": self.lowest,
                "highest": self.highest,
                "noise": self.noise,
                "guesses": {name: one.to_dict() for name, one in self.guesses.items()},
                "second_best": {"reading": str(self.second), "probability": self.second.probability},
                "ambiguous": self.ambiguous,
                "environments": dict(found.environments) if found else None,
                "whiff_probability": dict(zip(found.environments, found.found, strict=True)) if found else None,
                "mean_blank": dict(zip(found.environments, found.blanks, strict=True)) if found else None,
                "start_cells": found.start_cells if found else None,
                "looked_at": {"snapshots": len(self.view.frames), "first": self.view.first, "cells": self.view.factor},
                "settings": self.settings,
                "odd": self.odd,
                "next": self.next,
            }
        )

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {one.value} ({one.confidence})" for name, one in self.guesses.items())


def check_recording(
    recording: Path | str | Plume | np.ndarray, how: ReadSettings, given: Collection[str] | None = None
) -> PlumeCheck:
    """Find out what a recording is: a file, a plume, or an array of three dimensions in any order.

    Settings that are ``given`` win over settings files: by default those that are not at their defaults.
    """
    path = None
    if isinstance(recording, str | Path):
        path, how, _ = with_settings_files(Path(recording), how, given)
    with ExitStack() as files:
        return _checked(_found(path or recording, how.key, files), how, path)


def _found(recording: Any, key: str | None, files: ExitStack) -> Found:
    if isinstance(recording, Path):
        return found_in(recording, key, files)
    if isinstance(recording, Plume):
        return Found(recording.origin, recording.field, "txy", source=recording.source, origin=recording.origin)
    values = recording if hasattr(recording, "dims") else np.asarray(recording)
    return Found("array", getattr(values, "variable", values), named_axes(getattr(values, "dims", ())) or "txy")


def stated_axes(found: Found) -> str | None:
    """The axes of ``found`` if a file or a known layout says them; ``None`` if they are assumed."""
    named = named_axes(getattr(found.values, "dims", ()))
    known = found.fingerprint or found.source or found.origin or found.streamed or found.values.shape == PAPER_SHAPE
    return named or (found.axes if known else None)


def _checked(found: Found, how: ReadSettings, path: Path | None) -> PlumeCheck:
    shape = tuple(int(n) for n in found.values.shape)
    require(len(shape) == 3, f"{found.name} has {len(shape)} dimensions {shape}; it needs three: time, x, y.")
    how = replace(how, wind="right") if how.wind == "auto" else how
    stated = how.axes or stated_axes(found)
    thin = thinned(found.values)
    chances = tuple(float(one == "t") for one in stated) if stated else turns.time_chances(thin)
    time, other = sorted(range(3), key=lambda axis: -chances[axis])[:2]
    axes = stated or turns.letters_of(time)
    field = Reader(found, replace(how, axes=axes, environments=None, whiff_probability=None)).field()
    stored = glance(field)
    seen = motion(stored.frames)
    best = turns.reading_of("txy", seen, chances[time])
    measured: Wind = best.wind
    already = how.wind  # the reader has turned by this
    best = replace(best, axes=axes, wind=turns.WINDS[(turns.WINDS.index(measured) + turns.WINDS.index(already)) % 4])
    second = turns.turned_round(best, chances[time])
    if chances[other] > second.probability:
        second = _other_reading(thin, other, chances[other])
    seen = replace(seen, velocity=_ahead(seen, measured), rho=turned(seen.rho, measured))
    view = replace(stored, frames=turned(stored.frames, measured)).odor()
    grid = int(field.shape[1]), int(field.shape[2])
    grid = grid if measured in ("right", "left") else grid[::-1]
    speed = seen.speed * stored.factor
    guesses = {
        "axes": guess.of_axes(axes, chances[time], "given" if how.axes else "stated" if stated else "found"),
        "wind": guess.of_wind(best, seen),
        "speed": guess.of_speed(speed, seen),
        "background": guess.of_background(stored),
        "odor": guess.of_odor(stored),
        "saturated": guess.of_saturation(stored.values, found.values.dtype, stored.sign),
        "hot_pixels": guess.of_hot_pixels(hot_pixels(field)),
        "source": guess.of_source(view, _known_source(found, how, measured, already), seen.moves),
        "moves": guess.of_moves(speed, grid, field.shape[0]),
    }
    merged, every = (guesses["moves"].value[name] for name in ("downsample", "every"))
    fine = glance(field, merged, MOST_THRESHOLDED)
    fine = replace(fine, frames=turned(fine.frames[::every], measured)).corrected(found.values.dtype, stored)
    x, y = (cell // merged for cell in guesses["source"].value)
    suggestion, maps, sentence = _thresholds(fine, (x, y))
    ambiguous = best.probability < turns.ENOUGH or not seen.moves
    given = {one.name: getattr(how, one.name) for one in fields(how) if getattr(how, one.name) != one.default}
    settings = given | ({"axes": axes} if how.axes or not stated else {})
    settings |= {"wind": best.wind} if best.wind != "right" else {}
    settings |= {"every": every * how.every} if every > 1 else {}
    settings |= {"downsample": merged * how.downsample} if merged > 1 else {}
    settings |= {"background": "low"} if stored.uneven or (stored.sign < 0 and found.values.dtype.kind == "f") else {}
    settings |= {"invert": True} if stored.sign < 0 else {}
    settings |= {"source": (x, y)}
    chosen = how.whiff_probability or isinstance(how.environments, dict)
    settings |= {"environments": dict(suggestion.environments)} if suggestion and not chosen else {}
    check = PlumeCheck(
        name=path.name if path else found.name,
        recording=path,
        kind=_kind(path),
        stored=shape,
        dtype=str(found.values.dtype),
        snapshots=int(field.shape[0]),
        grid=grid,
        lowest=float(stored.values.min()),
        highest=float(stored.values.max()),
        noise=stored.noise,
        guesses=guesses,
        second=second,
        ambiguous=ambiguous,
        motion=seen,
        view=view,
        suggestion=suggestion,
        maps=maps,
        values=fine.frames.reshape(-1)[:: fine.frames.size // 500_000 + 1],
        settings=settings,
        odd=tuple(guess.oddities(guesses, second, ambiguous, suggestion, fine, sentence)),
        next=(),
    )
    return replace(check, next=next_commands(check, path, given))


def _ahead(seen: Motion, wind: Wind) -> tuple[float, float]:
    """The velocity after turning: downwind, and across."""
    x, y = seen.velocity
    return {"right": (x, y), "up": (-y, x), "left": (-x, -y), "down": (y, -x)}[wind]


def _other_reading(thin: np.ndarray, time: int, chance: float) -> turns.Reading:
    """The reading in which another axis is time."""
    letters = turns.letters_of(time)
    try:
        return turns.reading_of(letters, motion(np.moveaxis(thin, time, 0)), chance)
    except InputError:  # too short, or the wind is diagonal
        return turns.Reading(letters, "right", chance)


def _known_source(found: Found, how: ReadSettings, measured: Wind, already: Wind) -> tuple[tuple[int, int], str] | None:
    """The source that is given or stated by the file, where it needs no turning."""
    if how.source:
        return how.source, "given"
    as_stored = measured == already == "right" and how.crop is None and how.downsample == 1
    return (found.source, "stated by the file") if found.source and as_stored else None


def _suggested(
    fine: Glance, source: tuple[int, int], wanted: tuple[float, ...] | None
) -> tuple[Suggestion | None, str]:
    """Environments with some whiff probabilities, or the sentence that says why there are none."""
    try:
        return suggest_environments(fine.frames, source, wanted), ""
    except InputError as error:
        return None, str(error)


def _thresholds(fine: Glance, source: tuple[int, int]) -> tuple[Suggestion | None, dict[str, np.ndarray], str]:
    """Suggested environments with their whiff maps, and a sentence where they are not as far apart as the paper's."""
    floor = fine.background + 2 * fine.noise
    found, why = _suggested(fine, source, None)
    for wanted in RARE:  # where whiffs as frequent as in the paper would be noise, or odor is rarer
        if found is not None and found.lowest >= floor:
            break
        rare, _ = _suggested(fine, source, wanted)
        if rare is not None and (found is None or rare.lowest >= floor):
            said = ", ".join(map(short, wanted))
            found, why = rare, f"Whiffs cannot be as frequent here as the paper's; probabilities {said} are taken."
    if found is None:
        return None, {}, why
    return found, {name: (fine.frames >= single(c)).mean(axis=0) for name, c in found.environments.items()}, why


def _kind(path: Path | None) -> str:
    """What kind of file it is, by its ending."""
    if path is None or path.is_dir():
        return "in memory" if path is None else "Zarr" if path.suffix == ".zarr" else "folder of pictures"
    ending = path.suffix.lower()
    return KINDS.get(ending, f"{ending[1:].upper() or 'unnamed'} file")


def next_commands(check: PlumeCheck, path: Path | None, given: dict[str, Any]) -> tuple[str, ...]:
    """What to type next: a study of the recording, or its export as it was understood; or, what decides."""
    if path is None:
        return ()

    def command(*words: str, settings: dict[str, Any]) -> str:
        return shlex.join(["whiffclock", *words, *option_words(settings)])

    if check.ambiguous:
        found = check.guesses["axes"].value, check.guesses["wind"].value
        readings = dict.fromkeys((found, (check.second.axes, check.second.wind)))
        return tuple(
            command("plume", "check", str(path), settings=given | {"axes": axes, "wind": wind})
            for axes, wind in readings
        )
    export = "plume", "export", str(path), f"{path.stem}-plume.nc"
    return command("study", str(path), settings=given), command(*export, settings=check.settings)


def option_words(settings: dict[str, Any]) -> list[str]:
    """Settings of a reading as words of a command."""
    words: list[str] = []
    given = dict(settings)
    first, end = given.pop("first", 0), given.pop("end", None)
    if first or end is not None:
        words += ["--frames", f"{first}:{'' if end is None else end}"]
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if name == "crop":
            x0, x1, y0, y1 = value
            words += [option, f"{x0}:{x1},{y0}:{y1}"]
        elif name == "environments" and isinstance(value, dict):
            words += [option, Environments(value).text]
        elif isinstance(value, bool):
            words += [option] * value
        else:
            words += [option, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return words
