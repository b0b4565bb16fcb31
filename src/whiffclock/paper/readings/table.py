"""What readings change, as a table for a terminal of 80 columns, as JSON, and in the table of docs/paper.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import xarray as xr
from rich.table import Table

from whiffclock.drawing.tables import add_row, plain_table
from whiffclock.formatting import nan_to_null, number, span
from whiffclock.paper.claims.verdict import SIGNS
from whiffclock.paper.readings.study import METRICS

#: Columns of the table: quantity, and its name there.
_COLUMNS = {
    "G": "G", "f+": "f+", "surge_length": "surge", "cast_width": "cast", "upwind_search": "upwind",
    "downwind_return_length": "return", "downwind_return_start": "starts",
}  # fmt: skip
_CAPTION = """Difference of medians, the other reading minus ours: the largest over the environments (and modes), in \
G, success rate, cells and moves. *: its 95% interval leaves out 0; of all intervals, one in twenty does so by chance. \
return, starts: length of the downwind return, and moves before it. Verdicts: ✓ holds, ✗ does not hold, ? undecided."""
#: More alternatives than this are summarized in the documentation.
_MOST = 2
_BEGIN, _END = "<!-- readings: begin -->\n", "<!-- readings: end -->\n"


@dataclass(frozen=True)
class Change:
    """A difference of medians, its interval, and the environment (and mode) it was found in."""

    value: float
    low: float
    high: float
    place: str

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def largest(one: xr.Dataset, quantity: str) -> Change | None:
    """The largest change of a quantity in one reading: of those that are sure, if there are any."""
    found = list(_changes(one, quantity))
    return max(found, key=lambda change: (change.sure, abs(change.value)), default=None)


def _changes(one: xr.Dataset, quantity: str) -> Iterator[Change]:
    if quantity in one["metric"]:
        values = one["searches"].sel(metric=quantity).expand_dims(mode=[""])
    else:
        values = one["paths"].sel(geometry=quantity)
    for place in values["environment"].values.tolist():
        for mode in values["mode"].values.tolist():
            here = values.sel(environment=place, mode=mode)
            change, low, high = (float(here.sel(value=name)) for name in ("change", "low", "high"))
            if not math.isnan(change):
                yield Change(change, low, high, f"{mode} in {place}" if mode.strip("Q") else place)


def each_reading(data: xr.Dataset) -> Iterator[xr.Dataset]:
    """The dataset of each reading."""
    return (data.isel(reading=i) for i in range(data.sizes["reading"]))


def changed_verdicts(one: xr.Dataset) -> list[str]:
    """The verdicts that a reading changes: "C5 ✓→?"."""
    words = {name: one["verdict"].sel(claim=name).values.tolist() for name in one["claim"].values.tolist()}
    return [f"{name} {SIGNS[a]}→{SIGNS[b]}" for name, (a, b) in words.items() if a != b]


def readings_table(data: xr.Dataset) -> Table:
    """One line per reading, and a second one where verdicts change."""
    table = plain_table("What other readings of the paper change", _CAPTION, "reading", *_COLUMNS.values())
    table.columns[0].no_wrap = False
    for column in table.columns[1:]:
        column.justify = "right"
    for one in each_reading(data):
        verdicts = changed_verdicts(one)
        label = str(one["reading"].item()) + (f"\n  {', '.join(verdicts)}" if verdicts else "")
        cells = ((largest(one, quantity), quantity) for quantity in _COLUMNS)
        add_row(table, label, *(_short(change, quantity) for change, quantity in cells))
    return table


def _short(change: Change | None, quantity: str) -> str:
    return "" if change is None else _signed(change.value, quantity, terse=True) + " *"[change.sure]


def _signed(value: float, quantity: str, terse: bool = False) -> str:
    """A change with its sign; 0 has none."""
    text = number(value, "+.3f" if quantity in METRICS else "+.3g", terse=terse)
    return text if text.strip("+-−0.") else "0"


def readings_json(data: xr.Dataset) -> str:
    """All numbers and verdicts with their provenance, as JSON; null where there is no finite number."""
    content = {"facts": json.loads(data.attrs["facts"]), "readings": [_plain(one) for one in each_reading(data)]}
    return json.dumps(nan_to_null(content, digits=10), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(one: xr.Dataset) -> dict[str, Any]:
    def by_name(values: xr.DataArray) -> Any:
        if not values.dims:
            return values.item()
        along = values.dims[0]
        return {str(name): by_name(values.sel({along: name})) for name in values[along].values.tolist()}

    words = {name: str(one[name].item()) for name in ("number", "title", "agents")}
    known = one["paths"].dropna("mode", how="all")
    tested = one["verdict"].sel(claim=(one["verdict"] != "").all("whose"))
    return words | {"searches": by_name(one["searches"]), "paths": by_name(known), "verdicts": by_name(tested)}


def with_effects(text: str, data: xr.Dataset) -> str:
    """The documentation with the last column of its table of readings filled in, and the line on what was measured."""
    before, rest = text.split(_BEGIN)
    table, after = rest.split(_END)
    effects: dict[str, list[xr.Dataset]] = {}
    for one in each_reading(data):
        effects.setdefault(str(one["number"].item()), []).append(one)
    lines = []
    for line in table.splitlines():
        cells = line.strip("|").split(" | ")
        if (found := effects.get(cells[0].strip())) is not None:
            cells[-1] = f"{_effect(found)} "
            line = f"|{' | '.join(cells)}|"
        lines.append(_measured(data) if line.startswith("Measured") else line)
    return before + _BEGIN + "\n".join(lines) + "\n" + _END + after


def _measured(data: xr.Dataset) -> str:
    facts = json.loads(data.attrs["facts"])
    agents = f"{facts['seeds']} agents per environment, {facts['episodes']:,} episodes each"
    tau = f"; our tau of 2Q^h is {facts['heuristic_tau']}" if facts["heuristic_tau"] else ""
    plume = facts["origin"].partition(":")[0]
    return f"Measured by `whiffclock readings` with {agents}, on the {plume} (version {facts['version']}){tau}."


def _effect(alternatives: list[xr.Dataset]) -> str:
    """What the alternatives of one reading change, in a few words."""
    if len(alternatives) > _MOST:
        told = [_extremes(alternatives, quantity) for quantity in METRICS]
        verdicts = {one["title"].item(): ", ".join(changed_verdicts(one)) for one in alternatives}
        changed = [f"{title}: {found}" for title, found in verdicts.items() if found]
        return "; ".join([*told, *(changed or ["no verdict changes"])])
    return "; ".join(f"{one['title'].item()}: {_told(one)}" for one in alternatives)


def _told(one: xr.Dataset) -> str:
    parts = []
    for quantity, word in _COLUMNS.items():
        change = largest(one, quantity)
        if change is not None and (change.sure or quantity in METRICS):
            ends = span(change.low, change.high, ".3f" if quantity in METRICS else ".3g")
            parts.append(" ".join(filter(None, [word, _signed(change.value, quantity), ends, "in", change.place])))
    return ", ".join([*parts, *(changed_verdicts(one) or ["no verdict changes"])])


def _extremes(alternatives: list[xr.Dataset], quantity: str) -> str:
    """The lowest and the highest change over all alternatives and environments."""
    every = [(change, str(one["title"].item())) for one in alternatives for change in _changes(one, quantity)]
    ends = (choose(every, key=lambda pair: pair[0].value) for choose in (min, max))
    words = (f"{_signed(change.value, quantity)} ({title}, {change.place})" for change, title in ends)
    return f"{quantity} from {' to '.join(words)}"
