"""Policies as files for robots and other programs: C, MicroPython, JSON and CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, get_args

from whiffclock.arguments import path_of, settings_of
from whiffclock.disk import write_whole
from whiffclock.export import verify
from whiffclock.export.c import header
from whiffclock.export.machine import Machine
from whiffclock.export.micropython import module
from whiffclock.export.settings import PREFIX, FrontEnd, To
from whiffclock.export.tables import as_csv, as_json
from whiffclock.params import require
from whiffclock.policy import Policy, TablePolicy

_ENDINGS = {".h": "c", ".py": "micropython", ".json": "json", ".csv": "csv"}


@dataclass(frozen=True, repr=False)
class Export:
    """The text of an export, how it was verified, and how many bytes its tables take on a robot."""

    text: str
    verified: str
    table_bytes: int

    def save(self, path: Path) -> None:
        """Write the text, whole or not at all."""

        def write(file: BinaryIO) -> None:
            file.write(self.text.encode())

        write_whole(path, write)

    def __repr__(self) -> str:
        return f"Export({len(self.text):,} characters, tables of {self.table_bytes} bytes; {self.verified})"


def exported(policy: Policy, to: To = "c", prefix: str = PREFIX, front_end: FrontEnd | None = None) -> Export:
    """A policy as text, verified against it; what does not do what the policy does is no export, but a bug."""
    machine = Machine.of(policy)
    assert isinstance(policy, TablePolicy)
    require(to in get_args(To), f"There is no export to {to!r}; there are {', '.join(get_args(To))}.")
    require(
        front_end is None or to == "c", f"The front end is part of the C header; leave it out of an export to {to}."
    )
    if to == "c":
        text = header(machine, prefix, front_end)
        found = verify.compiler()
        if found is None:
            return Export(text, "not verified, since there is no C compiler here", machine.table_bytes)
        wrong = verify.differs_c(policy, text, prefix, machine.states, found)
        wrong += 0 if front_end is None else verify.differs_nose(front_end, text, prefix, found)
        how = f"compiled by {Path(found).name}"
    else:
        texts = {"micropython": lambda: module(machine), "json": lambda: as_json(policy), "csv": lambda: as_csv(policy)}
        walks = {"micropython": verify.walk_python, "json": verify.walk_json, "csv": verify.walk_csv}
        text = texts[to]()
        wrong = verify.differs(policy, walks[to](text), machine.states)
        how = "run by CPython" if to == "micropython" else "read again"
    moves = verify.whiff_records(machine.states).size
    if wrong:
        raise RuntimeError(f"The export of {policy!r} to {to} differs from the policy in {wrong} of {moves} moves.")
    return Export(text, f"verified: {how}, it makes the moves of the policy in {moves:,} steps", machine.table_bytes)


def export_policy(
    policy: Policy,
    path: Path | str | None = None,
    to: To | None = None,
    *,
    prefix: str = PREFIX,
    front_end: FrontEnd | Mapping[str, Any] | None = None,
) -> Export:
    """Write a policy with a finite memory as source code or as a table, for a robot or another program.

    Every export is verified before it is written: it makes the moves of the policy on random records of whiffs.

    Parameters
    ----------
    policy
        A policy with a finite memory: on a clock, a window, a controller or any other tables.
    path
        The file; default: none is written.
    to
        "c" (one header), "micropython", "json" or "csv"; default: by the ending of the path (.h, .py, .json, .csv).
    prefix
        Beginning of all names in the header.
    front_end
        Add a front end to the header, from raw readings of a sensor to whiffs: its settings, ``rise``, ``fall``,
        ``slow`` and ``dead``, or some of them; see :class:`whiffclock.export.settings.FrontEnd`.

    Returns
    -------
    Export
        ``text``, ``verified`` (how), and ``table_bytes``.

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.export_policy(wc.shipped("clock-sparse"), "agent.h")
    Export(... characters, tables of 25 bytes; ...)
    """
    place = None if path is None else path_of(path)
    if to is None:
        by_ending = _ENDINGS.get("" if place is None else place.suffix)
        require(by_ending is not None or place is None, f"{place} does not say what to export to; its ending must be "
                f"{', '.join(_ENDINGS)}, or give to='c'.")  # fmt: skip
        to = by_ending or "c"  # type: ignore[assignment]
    how = None if front_end is None else settings_of(FrontEnd, front_end)
    made = exported(policy, to, prefix, how)  # type: ignore[arg-type]
    if place is not None:
        made.save(place)
    return made
