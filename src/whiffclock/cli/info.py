"""``whiffclock info``: describe a policy, a plume or this installation."""

import platform
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whiffclock import __version__
from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import with_options
from whiffclock.environments import PAPER, trained_in
from whiffclock.formatting import plainly
from whiffclock.params import (
    EvaluationSettings,
    InputError,
    LearningSettings,
    OptimizeSettings,
    WorldSettings,
    require,
)

if TYPE_CHECKING:
    from whiffclock.policy import TablePolicy

#: Longer programs are cut.
_MOST_RUNS = 60


@app.command()
@with_options
def info(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Policy (file, module:object or name) or plume.")
    ] = None,
    json: opt.AsJson = False,
) -> None:
    """Describe a policy, a plume, or (without a file) this installation.

    Example: whiffclock info policies/sparse/two-q-tau10-seed00.npz
    """
    if file is None:
        facts = installation()
    else:
        facts = policy_facts(file) if is_policy(file) else plume_facts(file)
        facts = policy_summary(facts) if "policy" in facts and not json else facts
    opt.show(facts, json)


def installation() -> dict[str, Any]:
    """Version, machine and defaults."""
    from whiffclock.memory import clock
    from whiffclock.plume.builtin import builtin_plume
    from whiffclock.runs.engine import cores

    return {
        "whiffclock": __version__,
        "installed_in": str(Path(__file__).parents[1]),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "plume": builtin_plume().origin,
        "environments": dict(PAPER),
        "world": WorldSettings().to_dict(),
        "memory": clock().spec,
        "learning": LearningSettings().to_dict(),
        "evaluation": EvaluationSettings().to_dict(),
    }


def policy_summary(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a policy in a few lines: settings that differ from the defaults, no sums."""
    world = WorldSettings(start_threshold=PAPER.sparsest)
    defaults = {"world": world.to_dict(), "learning": LearningSettings().to_dict()}
    defaults["optimize"] = OptimizeSettings().to_dict()
    facts = dict(facts)
    shown: dict[str, Any] = {"policy": facts.pop("policy")}
    if isinstance(threshold := facts.pop("threshold", None), float):
        place = trained_in({"environment": facts.pop("environment", None), "threshold": threshold})
        shown["environment"] = f"{place} (whiff threshold {plainly(threshold)})"
    if origin := facts.pop("plume_origin", None) or facts.pop("origin", None):
        shown["plume"] = origin
    for name, value in facts.items():
        if name in defaults:
            usual = "default settings" if name == "optimize" else "as in the paper"
            value = {k: v for k, v in value.items() if v != defaults[name].get(k)} or usual
        elif name == "memory":
            value = {k: v for k, v in value.items() if v is not False and v not in ([], "")}
        elif name.startswith("last episodes"):
            value = {k: v for k, v in value.items() if k in ("largest_clock", "longest_blank")}
        shown.setdefault(name, value)
    return shown


def is_policy(file: Path) -> bool:
    """Whether the file has a policy's header, or is none and names a policy; other faults are reported by readers."""
    from whiffclock.agents.own import is_file
    from whiffclock.archive import read_npz

    if not is_file(file):
        return True
    require(file.exists(), f"There is no file at {file}.")
    zipped = file.is_file() and zipfile.is_zipfile(file)
    return zipped and "header" in read_npz(file, "a whiffclock policy", only=["header"])


def policy_facts(file: Path) -> dict[str, Any]:
    """Facts about a policy and its training."""
    from whiffclock.agents.bayes import BeliefPolicy
    from whiffclock.agents.own import policy_named
    from whiffclock.formatting import mode_name
    from whiffclock.path_metrics import geometry
    from whiffclock.policy import TablePolicy
    from whiffclock.recovery import recovery_path

    policy = policy_named(file)
    if isinstance(policy, BeliefPolicy):
        return _first({"policy": policy.name, "grid": list(policy.model.target.shape)}, policy.made_from)
    if not isinstance(policy, TablePolicy):
        return _first({"policy": policy.name, "memory": "of its own"}, policy.made_from)
    facts: dict[str, Any] = _first({"policy": policy.name, "memory": policy.memory.spec}, policy.made_from)
    if "curve" in policy.records:
        digits = {"episode": None, "G": 4, "f+": 4, "steps": 1}
        facts["end of training"] = {name: round(float(policy.curve()[name][-1]), n) for name, n in digits.items()}
    for mode in range(policy.modes):
        where = f" in {mode_name(mode, policy.modes)}" * (policy.modes > 1)
        if record := policy.clock_record(mode):
            facts[f"last episodes{where}"] = record
        facts[f"recovery{where}"] = geometry(recovery_path(policy, mode)).to_dict()
    return facts | program_texts(policy)


def program_texts(policy: "TablePolicy") -> dict[str, str]:
    """What a policy does, in words: runs of equal moves after a whiff in each mode, or the nodes of a controller."""
    from whiffclock.formatting import mode_name

    if policy.memory.name.startswith("controller"):
        return node_texts(policy)
    found = {}
    for mode in range(policy.modes):
        moves = [f"{action} {length}" for action, length in policy.program(mode)]
        more = f", ... ({len(moves)} runs)" if len(moves) > _MOST_RUNS else ""
        where = f" in {mode_name(mode, policy.modes)}" * (policy.modes > 1)
        found[f"program{where}"] = ", ".join(moves[:_MOST_RUNS]) + more
    return found


def node_texts(policy: "TablePolicy") -> dict[str, str]:
    """The moves of a controller, a line for each chain of equal ones, and the nodes that follow."""
    from whiffclock.chains import chains
    from whiffclock.world.moves import ACTIONS

    found = {}
    for nodes, action, blank, whiff in chains(policy):
        moves = ACTIONS[action] + f" {len(nodes)}" * (len(nodes) > 1)
        found[_numbered(nodes)] = f"{moves}, then {blank} after a blank, {whiff} after a whiff"
    return found


def _numbered(nodes: tuple[int, ...]) -> str:
    """``"node 3"``, ``"nodes 3-7"``, ``"nodes 3 8 4"``."""
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    first, last = nodes[0], nodes[-1]
    return "nodes " + (f"{first}-{last}" if nodes == (*range(first, last + 1),) else " ".join(map(str, nodes)))


def _first(facts: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """``facts``, then those of ``others`` that have another name."""
    return facts | {name: value for name, value in others.items() if name not in facts}


def plume_facts(file: Path) -> dict[str, Any]:
    """Facts about a plume: grid, source, whiffs per environment."""
    from whiffclock.plume.reading.files import read_plume

    plume = read_plume(file)
    snapshots, length, width = plume.field.shape
    facts: dict[str, Any] = {
        "plume": plume.origin,
        "snapshots": snapshots,
        "grid": [length, width],
        "source": list(plume.source),
        "fingerprint": plume.fingerprint,
        "highest_concentration": plume.highest,
    }
    facts |= {name: size for name in ("cell_mm", "frame_s") if (size := getattr(plume, name))}
    for name, threshold in plume.environments.items():
        try:
            facts[name] = {
                "threshold": threshold,
                "whiff_probability": round(float(plume.whiffs(threshold).probability().mean()), 4),
                "start_cells": len(plume.starts(threshold, WorldSettings(start_threshold="own"))),
            }
        except InputError:
            facts[name] = {"threshold": threshold, "whiff_probability": 0.0, "start_cells": 0}
    return facts
