"""The full run that comes with the package: compact datasets of it, and the verdicts on its claims.

``python -m whiffclock.paper.reference DIR`` packs a run, the output folder of ``whiffclock reproduce``, and refuses if
the compact datasets give other verdicts; without DIR it judges the packed run again, which is due after every change of
a claim's rule. Every other run is shown beside it.

The datasets are those of :mod:`whiffclock.paper.dataset`, but smaller: numbers are rounded (:data:`_BITS`), what
neither figures nor claims read is NaN (:data:`_KEPT`), and paths are 0 after their longest truncation, or not drawn.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from whiffclock.disk import write_whole
from whiffclock.paper.claims import CLAIMS, Verdict, judge
from whiffclock.paper.dataset import ROBUST, SEARCHED, SEARCHED_TWO, SINGLE, TWO, VARIABLES, Datasets
from whiffclock.params import require

FOLDER = Path(str(resources.files("whiffclock"))) / "data" / "reference"
_VERDICTS = "verdicts.json"
#: Numbers are multiples of 2^-bits, 2^-20 (a millionth) by default; those that may be very small keep their digits.
_BITS = {"curve": 11, "strata": 17, "sampled": 15, "concentration": None, "weight": None}
#: Coordinates that figures or claims read, of variables of which they do not read all.
_KEPT = {
    "curve": ("column", ["episode", "G"]),
    "strata": ("metric", ["G", "f+"]),
    "sampled": ("metric", ["G"]),
    "scan_strata": ("metric", ["G"]),
    "path": ("ensemble", [SINGLE, TWO, SEARCHED, SEARCHED_TWO, ROBUST]),
}
#: Dimensions along which values are of different kinds; values of one kind, stored together, take less space.
_KINDS = ("metric", "column", "axis", "truncation", "geometry")
#: Most that packing may change a number of a verdict.
_TOLERANCE = 1e-3
#: Facts in a few words, for what a run has "instead of" the full one.
_WORDS = {
    "seeds": "agents",
    "episodes": "episodes",
    "snapshots": "start snapshots per cell",
    "horizon": "moves per search",
    "heuristic_tau": "as tau of 2Q^h",
    "bayes_backups": "backups of the Bayesian agent",
}


def load_run(folder: Path | str | None = None) -> Datasets:
    """The datasets of the run in an output folder of ``whiffclock reproduce``; by default, of the full run."""
    if folder is None:
        found = reference()
        require(found is not None, "This installation has no full run; name an output folder of whiffclock reproduce.")
        assert found is not None
        return found
    source = Path(folder) / "data"
    require(source.is_dir(), f"{folder} has no folder data; name an output folder of whiffclock reproduce.")
    return Datasets.load(source)


def reference(folder: Path | None = None) -> Datasets | None:
    """The datasets of the full run; None if the package has none."""
    place = folder or FOLDER
    return _widened(Datasets.load(place)) if (place / "searches.nc").is_file() else None


def reference_verdicts(folder: Path | None = None) -> dict[str, Verdict]:
    """The verdicts on the full run by claim, as stored beside it; empty if the package has none."""
    made = {}
    for told in _stored(folder or FOLDER).get("claims", ()):
        if told["id"] in CLAIMS:
            values = {one.name: told[one.name] for one in fields(Verdict) if one.name != "claim"}
            made[told["id"]] = Verdict(CLAIMS[told["id"]], **values | {"interval": tuple(told["interval"])})
    return made


def verdicts_beside(data: Datasets) -> dict[str, Verdict]:
    """The verdicts to show beside those of a run: of the full run, unless it is this one."""
    return {} if _stored(FOLDER).get("facts") == data.facts else reference_verdicts()


def differences(data: Datasets) -> list[str]:
    """In what a run differs from the full run, such as "12 agents instead of 100"; empty if in nothing."""
    here, full = data.facts, _stored(FOLDER).get("facts")
    if full is None:
        return []
    found = ["another plume"] if here["fingerprint"] != full["fingerprint"] else []
    found += ["other environments"] if here["environments"] != full["environments"] else []
    one, other = here.get("readings", {}), full.get("readings", {})
    changed = [name.replace("_", " ") for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
    found += [f"other readings ({', '.join(changed)})"] if changed else []
    for name, words in _WORDS.items():
        if here.get(name) != full.get(name):
            found.append(f"{_number(here.get(name))} {words} instead of {_number(full.get(name))}")
    return found


def pack(folder: Path, into: Path) -> list[Verdict]:
    """Store the run in ``folder``, an output folder of a reproduction, compactly; returns its verdicts."""
    data = load_run(folder)
    small = _compact(data)
    found = judge(_widened(small))
    _require_same(judge(data), found)
    small.save(into, level=9)
    _store(found, data, into)
    return found


def judge_again(folder: Path) -> list[Verdict]:
    """Store the verdicts of the present rules on the run packed in ``folder``; returns them."""
    data = reference(folder)
    require(data is not None, f"{folder} has no full run; name an output folder of whiffclock reproduce to pack one.")
    assert data is not None
    found = judge(data)
    _store(found, data, folder)
    return found


def _store(found: Sequence[Verdict], data: Datasets, into: Path) -> None:
    content = {"facts": data.facts, "claims": [verdict.to_dict() for verdict in found]}
    text = json.dumps(content, default=lambda value: value.tolist(), ensure_ascii=False, indent=1)
    write_whole(into / _VERDICTS, lambda file: file.write(text.encode()))  # type: ignore[arg-type]


def _require_same(before: Sequence[Verdict], after: Sequence[Verdict]) -> None:
    """Refuse packed datasets from which a part of a claim gets another outcome, or another number."""
    for verdict, other_verdict in zip(before, after, strict=True):
        parts, packed = verdict.details["parts"], other_verdict.details["parts"]
        for label in {*parts} | {*packed}:
            same = label in parts and label in packed and parts[label]["outcome"] == packed[label]["outcome"]
            if same:
                one, other = ([part[label][name] for name in ("value", "low", "high")] for part in (parts, packed))
                same = np.allclose(one, other, rtol=0, atol=_TOLERANCE, equal_nan=True)
            require(same, f"Packed, the run has another result in {verdict.claim.id}, {label}: keep more of its data.")


def _compact(data: Datasets) -> Datasets:
    return _each(data, _small)


def _small(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """A variable without what is not read, rounded, as a type of few bytes."""
    values = dataset[name]
    if name in _KEPT:
        dim, kept = _KEPT[name]
        read = values[dim].isin(kept)
        if name == "strata":
            read = read | (dataset["drawn"] == "line")  # Fig. 2 shows standard errors of these kinds
        if name == "path":
            read = read & (values["step"] <= dataset["steps"].where(dataset["truncation"] != "none").max("truncation"))
        values = values.where(read, np.nan if values.dtype.kind == "f" else 0)
    first = [dim for dim in _KINDS if dim in values.dims and name in VARIABLES[dataset.attrs["dataset"]]]
    values = values.transpose(*first, *(dim for dim in dataset[name].dims if dim not in first))
    if values.dtype.kind == "f":
        bits = _BITS.get(name, 20)
        rounded = values if bits is None else (values * 2.0**bits).round() / 2.0**bits
        return rounded.astype(np.float32)
    if values.dtype.kind in "iu" and values.size:
        return values.astype(np.int16 if abs(values).max() < 2**15 else np.int64)
    return values


def _widened(data: Datasets) -> Datasets:
    """The same with the types of a run."""
    types: dict[str, Any] = {"f": np.float64, "i": np.int64}

    def widened(dataset: xr.Dataset, name: str) -> xr.DataArray:
        values, kind = dataset[name], dataset[name].dtype.kind
        values = values.transpose(*VARIABLES[dataset.attrs["dataset"]].get(name, values.dims))
        return values.astype(types[kind]) if kind in types and name != "path" else values

    return _each(data, widened)


def _each(data: Datasets, change: Callable[[xr.Dataset, str], xr.DataArray]) -> Datasets:
    """Datasets in which every variable is changed."""
    made = {
        kind: dataset.assign({name: change(dataset, str(name)) for name in dataset.data_vars})
        for kind, dataset in data.parts.items()
    }
    return Datasets(**made, beyond=None if data.beyond is None else _each(data.beyond, change))


def _stored(folder: Path) -> dict[str, Any]:
    """Facts and verdicts of the full run; NaN and infinite numbers are as Python's JSON has them."""
    path = folder / _VERDICTS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else "no"


if __name__ == "__main__":
    for verdict in pack(Path(sys.argv[1]), FOLDER) if sys.argv[1:] else judge_again(FOLDER):
        print(verdict.claim.id, verdict.verdict)
    print(f"{sum(file.stat().st_size for file in FOLDER.rglob('*') if file.is_file()) / 1e6:.2f} MB in {FOLDER}")
