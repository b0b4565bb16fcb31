"""Settings of tracks: what their file does not say, and how they are cut into recoveries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from whiffclock.params import NOT_NEGATIVE, POSITIVE, InputError, Settings, Valid, require
from whiffclock.plain_values import shown

#: What a column can be.
ROLES = ("t", "x", "y", "odor", "whiff", "individual", "trial", "condition", "wind")
Unit = Literal["mm", "cm", "m", "px", "cells"]
UNITS: tuple[str, ...] = get_args(Unit)
#: Directions in the coordinates of the tracks, in degrees: those towards which the wind blows.
WINDS = {"right": 0.0, "up": 90.0, "left": 180.0, "down": 270.0}


@dataclass(frozen=True)
class TrackSettings(Settings):
    """What is known of tracks; what is None is read from the file or guessed, and said."""

    columns: Annotated[
        dict[str, str] | None, "Columns by what they are: t, x, y, odor or whiff, individual, trial, condition, wind."
    ] = None
    keypoint: Annotated[str | None, "Keypoint to follow in poses; default: centroid, or the mean of all."] = None
    units: Annotated[Unit | None, "Unit of x and y."] = None
    cell: Annotated[float | None, "Length of one move of an agent, in this unit.", POSITIVE] = None
    fps: Annotated[float | None, "Frames per second, where times count frames.", POSITIVE] = None
    wind: Annotated[
        float | Literal["right", "left", "up", "down"] | None,
        "Where the wind blows to: right (+x), left, up (+y), down, or degrees from +x towards +y.",
        Valid(must="be right, left, up, down or an angle in degrees"),
    ] = None
    threshold: Annotated[
        float | Literal["auto"] | None,
        "Odor at or above this is a whiff; auto: well above the noise.",
        Valid(must="be a number or 'auto'"),
    ] = None
    interpolate: Annotated[float, "Fill gaps of up to S seconds by straight lines.", NOT_NEGATIVE] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", columns_named(self.columns))
        super().__post_init__()

    @property
    def degrees(self) -> float | None:
        """The angle of the wind, if it is given."""
        return WINDS[self.wind] if isinstance(self.wind, str) else self.wind


def columns_named(columns: Any) -> Any:
    """``"t=time,x=pos_x"`` or a mapping, with the roles checked."""
    if isinstance(columns, str):
        pairs = [part.partition("=") for part in columns.split(",")]
        wrong = f"The columns are {shown(columns)}; they must be pairs such as t=time,x=pos_x,y=pos_y,whiff=signal."
        require(all(mark and name.strip() for _, mark, name in pairs), wrong)
        columns = {role.strip(): name.strip() for role, _, name in pairs}
    for role in columns if isinstance(columns, Mapping) else ():
        require(role in ROLES, f"A column is named for {shown(role)}; it must be one of {', '.join(ROLES)}.")
    return columns


def parse_wind(text: str) -> float | str:
    """A direction by name or in degrees."""
    try:
        return text if text in WINDS else float(text)
    except ValueError as error:
        must = "it must be right, left, up, down or an angle in degrees"
        raise InputError(f"--wind is {text!r}; {must}.") from error


def parse_threshold(text: str) -> float | str:
    """A number, or ``"auto"``."""
    try:
        return text if text == "auto" else float(text)
    except ValueError as error:
        raise InputError(f"--threshold is {text!r}; it must be a number or auto.") from error


@dataclass(frozen=True)
class RecoverySettings(Settings):
    """How tracks are cut into recoveries, and in which steps these are measured."""

    blank: Annotated[float | None, "Shortest blank that counts, in s; default: that of 10 moves.", NOT_NEGATIVE] = None
    steps: Annotated[
        Literal["time", "length"], "Count steps of the time of one move, or of one cell; see docs/animals.md."
    ] = "time"
    move_s: Annotated[float | None, "Time of one move in s; default: the usual time for a cell.", POSITIVE] = None
