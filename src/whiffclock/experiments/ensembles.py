"""Ensembles of trained agents, in a folder or in a run store: what is trained stays trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from whiffclock.agents.files import load_policy
from whiffclock.agents.qlearning import Task, train
from whiffclock.archive import require_writable
from whiffclock.params import InputError, environment_name, require
from whiffclock.policy import ClockPolicy, Policy
from whiffclock.runs.engine import cores, run_jobs
from whiffclock.runs.store import Store

#: Kind under which a run store keeps policies.
POLICY = "policy"


def policy_path(folder: Path, task: Task) -> Path:
    """Where the policy of a task is kept."""
    kind = task.name.lower() + "".join(f"-tau{tau}" for tau in task.clock.taus)
    return folder / environment_name(task.threshold) / f"{kind}-seed{task.seed:02d}.npz"


def kept_policy(path: Path, task: Task, force: bool) -> ClockPolicy | None:
    """The finished policy of this very task, if it is there; another one in its place is refused."""
    if not path.exists() or force:
        return None
    policy = ClockPolicy.load(path)
    made_from = task.describe() | {"episodes_played": task.learning.episodes}
    require(
        policy.clock == task.clock and policy.made_from == made_from,
        f"{path} holds a policy made with other settings; choose another folder, or --force to replace it.",
    )
    return policy


def train_ensembles(
    tasks: Sequence[Task],
    folder: Path,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    force: bool = False,
) -> list[tuple[ClockPolicy, bool]]:
    """Train what is not in ``folder`` yet, saving each policy as it is finished.

    Returns each task's policy, and whether it was trained now.
    """
    require_writable(folder)
    for task in tasks:  # find out about bad settings before anything is written
        task.plume.whiffs(task.threshold)
        task.plume.starts(task.threshold, task.world)
    paths = [policy_path(folder, task) for task in tasks]
    kept = [kept_policy(path, task, force) for path, task in zip(paths, tasks, strict=True)]
    if progress is not None:
        progress(sum(task.learning.episodes for task, policy in zip(tasks, kept, strict=True) if policy))
    todo = [i for i, policy in enumerate(kept) if policy is None]
    trained = run_jobs([partial(_train_and_save, tasks[i], paths[i]) for i in todo], workers or cores(), progress)
    fresh = dict(zip(todo, trained, strict=True))
    return [(fresh[i], True) if policy is None else (policy, False) for i, policy in enumerate(kept)]


def _train_and_save(task: Task, path: Path, tick: Callable[[int], None]) -> ClockPolicy:
    """A job. It saves in its own thread, since Ctrl-C comes to the main thread, and would cut a write short there."""
    policy = train(task, tick)
    policy.save(path)
    return policy


def policy_description(task: Task) -> dict[str, Any]:
    """What determines the policy of a task; its plume's file and the package version do not."""
    told = task.describe() | {"agent": task.name, "clock": task.clock.to_dict()}
    return {name: value for name, value in told.items() if name not in ("origin", "version")}


def stored_policy(store: Store, task: Task) -> ClockPolicy | None:
    """The policy of this task, if it is in the store."""
    description = policy_description(task)
    if not store.has(POLICY, description):
        return None
    return ClockPolicy.from_arrays(store.load(POLICY, description).arrays, store.path(POLICY, description))


def find_policies(paths: Sequence[Path]) -> list[tuple[Path, Policy]]:
    """Policies from files and folders (searched through and through), in order of name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob("*.npz"))
            require(bool(found), f"There are no policies in {path}.")
            files += found
        else:
            files.append(path)
    if not files:
        raise InputError("No policies were named; give files, or a folder of them.")
    return [(file, load_policy(file)) for file in files]
