"""``wc.assay``: the protocol played to agents, or conditions of animals, with shares, metrics and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.arguments import policies_of
from whiffclock.assays.animals import sample_of
from whiffclock.assays.playing import Sample, play
from whiffclock.assays.power import POOL, Power, animals_of, require_simulable, simulated
from whiffclock.assays.protocol import Protocol, read_protocol
from whiffclock.assays.shares import Shares, explained
from whiffclock.formatting import nan_to_null
from whiffclock.params import checked, require
from whiffclock.path_metrics import GEOMETRY, geometry
from whiffclock.policy import Policy
from whiffclock.progress import Bar
from whiffclock.runs.comparison import contenders
from whiffclock.tracks.recoveries import Recoveries
from whiffclock.tracks.track import Tracks

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from rich.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Tested:
    """The recoveries of one agent or of animals, and what the history explains of them."""

    sample: Sample
    shares: Shares

    @property
    def name(self) -> str:
        """What it is called."""
        return self.sample.name

    @cached_property
    def metrics(self) -> np.ndarray:
        """float[recovery, metric], in the order of :data:`whiffclock.path_metrics.GEOMETRY`."""
        paths = self.sample.paths
        different, which = np.unique(paths.reshape(len(paths), -1), axis=0, return_inverse=True)
        shapes = [tuple(asdict(geometry(path, path)).values()) for path in different.reshape(-1, *paths.shape[1:])]
        return np.array(shapes, dtype=np.float64)[which.ravel()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: shares, and the medians of the metrics after each history."""
        metrics = {
            name: dict(zip(GEOMETRY, _medians(self.metrics[self.sample.condition == i]), strict=True))
            for i, name in enumerate(self.sample.conditions)
        }
        about = {"name": self.name, "moves": self.sample.paths.shape[1] - 1, **self.shares.to_dict()}
        return about | {"metrics": nan_to_null(metrics), "notes": list(self.sample.notes)}


def _medians(metrics: np.ndarray) -> list[float]:
    """Medians in which a return that never starts counts as the latest."""
    found = np.median(np.nan_to_num(metrics, nan=np.inf), axis=0)
    return np.where(np.isfinite(found), found, np.nan).tolist()


@dataclass(frozen=True, eq=False, repr=False)
class Assay:
    """Result of an assay; it is shown as tables.

    Attributes
    ----------
    tested
        For each agent, its ``sample`` of recoveries (paths, and which history came before), its ``shares`` (how much
        the history explains, with interval and test) and its ``metrics``.
    protocol
        The histories that were played; None for animals.
    power
        For each agent, how often simulated experiments find a difference, if that was asked for.
    """

    tested: tuple[Tested, ...]
    protocol: Protocol | None = None
    power: tuple[Power, ...] = ()

    def tables(self) -> list[Table]:
        """Shares, metrics and power, for a terminal of 80 columns."""
        from whiffclock.drawing.assays import metrics_table, power_table, shares_table

        return [shares_table(self), metrics_table(self), *([power_table(self)] if self.power else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        found = {"protocol": self.about, "tested": [one.to_dict() for one in self.tested]}
        return found | ({"power": [one.to_dict() for one in self.power]} if self.power else {})

    def to_pandas(self) -> pd.DataFrame:
        """One row per recovery: agent, history, individual and the five metrics."""
        import pandas as pd

        made = []
        for one in self.tested:
            found = one.sample
            names = {"agent": one.name, "history": np.array(found.conditions)[found.condition]}
            columns = dict(zip(GEOMETRY, one.metrics.T, strict=True))
            made.append(pd.DataFrame(names | {"individual": found.individual} | columns))
        return pd.concat(made, ignore_index=True)

    def to_xarray(self) -> xr.Dataset:
        """Paths and metrics by recovery, with the agent and history of each; the attribute ``shares`` is JSON."""
        import xarray as xr

        every = [one.sample for one in self.tested]
        require(len({one.paths.shape[1] for one in every}) == 1, "The recoveries of agents differ in their length.")
        coords: dict[str, Any] = {
            "agent": np.concatenate([np.full(len(one), one.name) for one in every]),
            "history": np.concatenate([np.array(one.conditions)[one.condition] for one in every]),
            "individual": np.concatenate([one.individual for one in every]),
        }
        paths, metrics = (
            np.concatenate([one.sample.paths for one in self.tested]),
            [one.metrics for one in self.tested],
        )
        return xr.Dataset(
            {
                "path": (("recovery", "move", "axis"), paths),
                "geometry": (("recovery", "metric"), np.concatenate(metrics)),
            },
            {name: ("recovery", values) for name, values in coords.items()}
            | {"axis": ["x", "y"], "metric": [*GEOMETRY]},
            {"shares": json.dumps([one.to_dict() for one in self.tested]), "protocol": json.dumps(self.about)},
        )

    @property
    def about(self) -> dict[str, Any]:
        """The protocol in plain values."""
        if self.protocol is None:
            return {}
        histories = {name: one.astype(int).tolist() for name, one in self.protocol.histories.items()}
        drawn = {} if self.protocol.drawn is None else {"draw": self.protocol.drawn.to_dict()}
        return self.protocol.settings.to_dict() | drawn | {"histories": histories}

    def __repr__(self) -> str:
        from whiffclock.terminal import Terminal

        console = Terminal(width=100, color_system=None, force_jupyter=False)
        with console.capture() as text:
            for table in self.tables():
                console.print(table)
        return "\n".join(line.rstrip() for line in text.get().strip("\n").splitlines())


def assay(
    protocol: Path | str | Mapping[str, Any] | Recoveries | Tracks,
    policies: Policy | Sequence[Policy] | Mapping[str, Policy | Sequence[Policy]] = (),
    *,
    power: float | None = None,
) -> Assay:
    """Play different histories of whiffs to agents, then the same long blank, and compare their recoveries.

    Recoveries of animals in several conditions are compared in the same way.

    Parameters
    ----------
    protocol
        A protocol in a TOML file, or a dictionary of the same contents: ``blank`` (moves of the long blank),
        ``histories`` by name, or ``draw`` to draw them from a plume, ``repeats``, ``noise`` and ``seed``. Or recoveries
        of animals, ``tracks.recoveries(blank=...)``, whose tracks have conditions.
    policies
        The agents: a policy, several, or a dictionary from your own names to policies. None for animals.
    power
        Say how many animals and trials an experiment would need if the history explained this share of the
        recovery; animals are simulated by the agents with the protocol's noise, or drawn from those given.

    Returns
    -------
    Assay
        It is shown as tables; ``tested`` has paths, shares and metrics of each agent.

    Examples
    --------
    >>> import whiffclock as wc
    >>> two = {"blank": 20, "histories": {"dense": "5(W B) W", "sparse": "W B30 W"}}
    >>> found = wc.assay(two, wc.shipped("clock-sparse"))
    >>> found.tested[0].shares.distinct, found.tested[0].shares.history
    (1, 0.0)
    """
    power = checked("power", power, float | None)
    if isinstance(protocol, Tracks):
        protocol = protocol.recoveries()
    if isinstance(protocol, Recoveries):
        require(not policies, "Recoveries of animals were given; agents need a protocol.")
        return assay_animals(protocol, power)
    read = read_protocol(protocol)
    given = policies_of(policies)
    named = [one.name for one in contenders([policy for _, policy in given])]
    with Bar("plays") as bar:
        return play_all(read, [(own or name, one) for (own, one), name in zip(given, named, strict=True)], bar, power)


def assay_animals(found: Recoveries, share: float | None = None) -> Assay:
    """Compare recoveries of animals between conditions; with a ``share``, simulate experiments with such animals."""
    sample = sample_of(found)
    if share is not None:
        require_simulable(share, len(sample.conditions))
    tested = Tested(sample, explained(sample))
    return Assay((tested,), power=() if share is None else (simulated(sample, share),))


def play_all(protocol: Protocol, named: Sequence[tuple[str, Policy]], bar: Bar, share: float | None = None) -> Assay:
    """Play a protocol to agents, each with a name; with a ``share``, simulate experiments as well."""
    made, powers = [], []
    if share is not None:
        require_simulable(share, len(protocol.histories), protocol.settings.noise)
    for name, policy in named:
        bar.begin(f"playing to {name}", len(protocol.histories) * protocol.settings.repeats)
        sample = play(policy, protocol, name, bar.advance)
        made.append(Tested(sample, explained(sample, protocol.settings.seed)))
    if share is None:
        return Assay(tuple(made), protocol)
    for name, policy in named:
        bar.begin(f"simulating {name}", POOL)
        pool = animals_of(policy, protocol, name, bar.advance)
        bar.enter("simulating experiments")
        powers.append(simulated(pool, share, protocol.settings.seed))
    return Assay(tuple(made), protocol, tuple(powers))
