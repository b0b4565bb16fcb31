"""What a page of searches holds: the plume as levels of concentration, and policies as tables.

A level is the number of edges that a concentration reaches. The edges are evenly spaced in the logarithm, and the
thresholds of the environments are among them: a concentration is a whiff if it reaches the level of the environment,
exactly as in the packed record of the kernels. One array of bytes therefore holds the picture and all whiffs.
"""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.environments import Environments, trained_in
from whiffclock.evaluation import own_horizon, require_fit
from whiffclock.formatting import mode_name, plainly
from whiffclock.memory import Memory
from whiffclock.params import EvaluationSettings, ViewSettings, WorldSettings, require
from whiffclock.path_metrics import MAIN_TRUNCATION
from whiffclock.plume import Plume
from whiffclock.plume.whiffs import single, time_chunks
from whiffclock.policy import Policy, TablePolicy, require_policy
from whiffclock.recovery import recovery_moves
from whiffclock.viewer.recording import Recording, record

#: A policy, and what it is called; None: by its kind and environment.
Named = tuple[str | None, Policy]
#: Levels of concentration, and those of a small page.
LEVELS, FEW_LEVELS = 64, 32
#: Concentrations below this share of the lowest threshold are not drawn.
_FAINT = 0.25
#: Most cells times snapshots of a page, and of a small one (1,000 snapshots of the built-in plume).
MOST_VALUES, FEW_VALUES = 30_000_000, 1000 * 123 * 27
MOST_POLICIES = 100
_SHORTEST = 50


def snapshots_of(plume: Plume, settings: ViewSettings) -> int:
    """Number of snapshots of a plume that go into the page; a plume that is too large is refused."""
    snapshots, *grid = plume.field.shape
    cells = int(np.prod(grid))
    wanted, most = min(settings.frames or snapshots, snapshots), MOST_VALUES // cells
    if settings.small:
        most = FEW_VALUES // cells
        wanted = min(wanted, most) if settings.frames is None else wanted
    size = f"{wanted} snapshots of {grid[0]} x {grid[1]} cells are too much for a page"
    way = f"take {most} of them with --frames {most}" if most >= _SHORTEST else "take a part of the grid"
    others = "; whiffclock plume export writes a smaller plume, with --crop or --downsample"
    require(2 <= wanted <= most, f"{size}; {way}{others}.")
    return wanted


def contents(
    plume: Plume, named: Sequence[Named], world: WorldSettings, settings: ViewSettings, first: int = 0
) -> dict[str, str]:
    """The blocks of data of a page as text: about, plume, beliefs. ``first`` is the policy that it opens with."""
    require(len(named) <= MOST_POLICIES, f"There are {len(named)} policies; a page takes at most {MOST_POLICIES}.")
    for _, policy in named:
        _require_shown(policy, plume, world, settings.record)
    places = _environments(plume, [policy for _, policy in named])
    snapshots = snapshots_of(plume, settings)
    recorded = _recordings([policy for _, policy in named], plume, world, settings.record, snapshots)
    edges = level_edges(places, plume.highest, FEW_LEVELS if settings.small else LEVELS)
    about = {
        "version": __version__,
        "plume": _plume_facts(plume, snapshots, edges),
        "environments": [_environment(name, at, plume, world, edges) for name, at in places.items()],
        "radius": world.radius,
        "gamma": EvaluationSettings.gamma,
        "first": sum(len(found) or 1 for found in recorded[:first]),
        **_policies(named, places, recorded),
    }
    maps = b"".join(one.maps for found in recorded for one in found)
    blocks = {"about": json.dumps(about).encode(), "plume": levels(plume, edges, snapshots), "beliefs": maps}
    return {name: packed(data) for name, data in blocks.items() if data}


def level_edges(places: Mapping[str, float], highest: float, count: int) -> np.ndarray:
    """Edges float32[count] between levels, of which the thresholds of the environments are some."""
    exact = single(np.array([*places.values()]))
    lowest = _FAINT * float(exact.min())
    edges = single(np.geomspace(lowest, max(highest, 4 * float(exact.max())), count))
    between = edges[np.abs(np.log(edges[:, None] / exact)).min(axis=1) > 0.5 * np.log(edges[1] / edges[0])]
    return np.unique(np.concatenate([between, exact]))


def levels(plume: Plume, edges: np.ndarray, snapshots: int) -> bytes:
    """Level of every concentration, one byte each, in the order of the field."""
    field = plume.field[:snapshots]
    parts = (single(field[part]) for part in time_chunks(field))
    return b"".join(np.searchsorted(edges, part, "right").astype(np.uint8).tobytes() for part in parts)


def packed(data: bytes) -> str:
    """Bytes as text: deflated, in base 64."""
    return base64.b64encode(zlib.compress(data, 5)).decode()


def _require_shown(policy: Policy, plume: Plume, world: WorldSettings, record: int) -> None:
    """Refuse a policy that a page cannot show."""
    require_policy(policy)
    made = policy.made_from.get("plume")
    here = made in (None, plume.fingerprint, plume.held_out_from, plume.part_of)
    own = f"The {policy.name} policy was made on another plume"
    require(here, f"{own} (fingerprint {made}); give that one with --plume, or policies that were made on this one.")
    require_fit(policy, world)
    if not isinstance(policy, TablePolicy):
        lacks = f"The {policy.name} policy has no table of moves"
        require(record > 0, f"{lacks}, and no search of it is recorded; --record 4 records some.")
        require(policy.threshold is not None, f"{lacks} and no environment of its own, in which it could be recorded.")


def _recordings(
    policies: Sequence[Policy], plume: Plume, world: WorldSettings, count: int, snapshots: int
) -> list[list[Recording]]:
    """The recorded searches of each policy; none of one with a table."""
    found = []
    for policy in policies:
        at = None if isinstance(policy, TablePolicy) else policy.threshold
        found.append([] if at is None else record(policy, plume, at, world, count, snapshots))
    return found


def _environments(plume: Plume, policies: Sequence[Policy]) -> Environments:
    """Those of the plume, and those that policies were made for."""
    found = dict(plume.environments)
    own = {one.threshold: f"at{number}" for number, one in enumerate(policies, 1) if one.threshold is not None}
    found |= {name: at for at, name in own.items() if at not in found.values()}
    places = Environments(found).required()
    for name, at in places.items():
        highest = plainly(plume.highest)
        require(plume.reaches(at), f"Nothing reaches {name} = {plainly(at)}; the highest concentration is {highest}.")
    return places


def _plume_facts(plume: Plume, snapshots: int, edges: np.ndarray) -> dict[str, Any]:
    whole, length, width = plume.field.shape
    return {
        "origin": plume.origin,
        "fingerprint": plume.fingerprint,
        "snapshots": snapshots,
        "recorded": whole,
        "length": length,
        "width": width,
        "source": [int(at) for at in plume.source],
        "edges": [float(f"{edge:.6g}") for edge in edges],
    }


def _environment(name: str, at: float, plume: Plume, world: WorldSettings, edges: np.ndarray) -> dict[str, Any]:
    """Name, threshold, the level that is a whiff, and the start cells, as x and y in turn."""
    shown = name if name in plume.environments else plainly(at)
    level = np.searchsorted(edges, single(at), "right").item()
    starts = plume.starts(at, world).ravel().tolist()
    return {"name": shown, "threshold": at, "level": level, "starts": starts}


def _policies(named: Sequence[Named], places: Environments, recorded: Sequence[Sequence[Recording]]) -> dict[str, Any]:
    """Policies, and the memories that they share."""
    memories: list[Memory] = []
    shown: list[dict[str, Any]] = []
    order = [*places.values()]
    for label, (_, policy), searches in zip(_labels(named), named, recorded, strict=True):
        place = None if policy.threshold is None else order.index(policy.threshold)
        for number, one in enumerate(searches, 1):
            shown.append({"label": f"{label}, search {number}", "environment": place, **_recorded(one)})
        if isinstance(policy, TablePolicy):
            if policy.memory not in memories:
                memories.append(policy.memory)
            memory = memories.index(policy.memory)
            shown.append({"label": label, "environment": place, "memory": memory, **_table(policy)})
    return {"policies": shown, "memories": [_memory(memory) for memory in memories]}


def _table(policy: TablePolicy) -> dict[str, Any]:
    return {
        "actions": "".join(map(str, policy.actions.tolist())),
        "horizon": own_horizon(policy),
        "ends": [recovery_moves(policy, MAIN_TRUNCATION, mode) for mode in range(policy.modes)],
        "values": None if policy.q is None else np.round(policy.q, 4).ravel().tolist(),
    }


def _recorded(search: Recording) -> dict[str, Any]:
    """A recorded search: a program that begins at one start, and whose clock is the number of moves."""
    actions, moves = "".join(map(str, search.moves)), len(search.moves)
    return {"start": search.start, "actions": actions, "horizon": moves, "ends": [moves], "maps": len(search.maps)}


def _memory(memory: Memory) -> dict[str, Any]:
    tables = {name: getattr(memory, name).ravel().tolist() for name in ("row", "mode", "first", "after_whiff")}
    names = [mode_name(mode, memory.modes) for mode in range(memory.modes)]
    return {"name": memory.name, "modes": names, "next": memory.next_node.ravel().tolist(), **tables}


def _labels(named: Sequence[Named]) -> list[str]:
    """A different name for each policy: the given one, or kind and environment, with more where these are the same."""
    found = []
    for given, policy in named:
        made, place = policy.made_from, "" if policy.threshold is None else trained_in(policy.made_from)
        angle = f"{made['angle']:g}°" if "angle" in made else ""
        found.append((given or ", ".join(filter(None, (policy.name, place, angle))), f"seed {made.get('seed', 0)}"))
    times = Counter(label for label, _ in found)
    longer = [f"{label}, {seed}" if times[label] > 1 else label for label, seed in found]
    seen: Counter[str] = Counter()
    out = []
    for label in longer:
        seen[label] += 1
        out.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return out
