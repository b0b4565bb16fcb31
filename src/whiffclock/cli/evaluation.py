"""``whiffclock evaluate`` and ``whiffclock compare``: performance of policies."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from whiffclock import __version__
from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.params import EvaluationSettings, WorldSettings, require

if TYPE_CHECKING:
    from whiffclock.evaluation import Evaluation
    from whiffclock.plume import Plume
    from whiffclock.policy import Policy

AnyPolicy = TypeVar("AnyPolicy", bound="Policy")
Policies = Annotated[list[Path], typer.Argument(metavar="POLICY...", help="Policy files, or folders of them.")]


@app.command()
@with_options
def evaluate(
    *,
    policies: Policies,
    plume: opt.PlumeSettings,
    environment: opt.Environment = None,
    settings: EvaluationSettings,
    world: opt.World,
    records: Annotated[Path | None, "Write the result of every search to this folder.", OptionSpec("DIR")] = None,
    json: opt.AsJson = False,
) -> None:
    """Evaluate policies from every start: return G, speed T_min/T, success f+.

    Each policy is evaluated in its training environment, unless --environment
    is given.

    Example: whiffclock evaluate policies -e sparse
    """
    from whiffclock.archive import require_writable, write_npz
    from whiffclock.runs.ensembles import find_policies

    found = find_policies(policies)
    if records is not None:
        require_writable(records)
    field = plume.open()
    world = field.settle(world)
    tests = list(in_environments(found, field, environment))
    labelled = [(f"{path.parent.name}/{path.stem}", policy, threshold) for path, policy, threshold in tests]
    tested = [result for result, _ in search_all(labelled, field, world, settings)]
    if records is not None:
        names = record_names([(path, result.environment) for (path, *_), result in zip(tests, tested, strict=True)])
        for name, (_, policy, _), result in zip(names, tests, tested, strict=True):
            write_npz(records / name, provenance(policy, result, world) | result.arrays())
    if json:
        rows = zip(tests, tested, strict=True)
        opt.print_json(
            [{"file": str(file), "environment": one.environment, **one.to_dict()} for (file, *_), one in rows]
        )
    else:
        show_table([label for label, *_ in labelled], tested, field, settings)
        warn_other_plume(field, [policy for _, policy in found])


def in_environments(
    found: Iterable[tuple[Path, AnyPolicy]], field: Plume, environment: list[str] | None
) -> Iterator[tuple[Path, AnyPolicy, float]]:
    """Each policy with the given thresholds, or with its own."""
    for path, policy in found:
        own = [] if policy.threshold is None else [policy.threshold]
        thresholds = opt.thresholds_in(field, environment) if environment else own
        require(bool(thresholds), f"{path} has no training environment; give one with --environment.")
        yield from ((path, policy, threshold) for threshold in thresholds)


def search_all(
    tests: Iterable[tuple[str, Policy, float]], field: Plume, world: WorldSettings, settings: EvaluationSettings
) -> Iterator[tuple[Evaluation, float]]:
    """Search from every start with policies, each with a label, at a threshold; and microseconds per decision."""
    from whiffclock.evaluation import evaluate, make_starts, own_horizon

    with opt.progress_bar("searches") as bar:
        for label, policy, threshold in tests:
            starts = make_starts(field, threshold, world, settings, settings.horizon or own_horizon(policy))
            bar.begin(f"{label} in {field.environments.name_of(threshold)}", len(starts))
            began = time.thread_time()
            result = evaluate(policy, field, threshold, world, settings, starts, bar.advance)
            yield result, 1e6 * (time.thread_time() - began) / int(result.mode_steps.sum())


def show_table(labels: list[str], tested: list[Evaluation], field: Plume, settings: EvaluationSettings) -> None:
    """Print evaluations, one per line."""
    from whiffclock.drawing.tables import evaluation_table

    rows = [(label, one.environment, one) for label, one in zip(labels, tested, strict=True)]
    opt.out.print(evaluation_table(rows, "Mean over all starts ± standard error", caption(field, settings)))


@app.command()
@with_options
def compare(
    *,
    policies: Policies,
    plume: opt.PlumeSettings,
    environment: opt.Environment = None,
    everywhere: Annotated[bool, "Evaluate every policy in every environment."] = False,
    heuristic_tau: Annotated[int, "tau of the heuristic agent 2Q^h; 0: without 2Q^h."] = 10,
    settings: EvaluationSettings,
    world: opt.World,
    store: Annotated[Path | None, "Folder in which results are cached; default: none.", OptionSpec("DIR")] = None,
    engine: opt.Engine,
    json: opt.AsJson = False,
) -> None:
    """Compare ensembles with each other, with 2Q^h and with tuned cast-and-surge.

    Each policy is evaluated in its training environment, unless --everywhere
    is given.

    Example: whiffclock compare policies --everywhere
    """
    from whiffclock.evaluation import own_horizon
    from whiffclock.notebook import run_comparison
    from whiffclock.runs.ensembles import Comparison, find_policies, heuristic_ensemble
    from whiffclock.runs.kinds import Given

    found = [Given.of(policy) for _, policy in find_policies(policies)]
    longest = max(own_horizon(given.policy) for given in found)
    settings = replace(settings, horizon=longest if settings.horizon is None else settings.horizon)
    trained = {given.policy.threshold for given in found if given.policy.threshold is not None}
    field = plume.open()
    thresholds = opt.thresholds_in(field, environment) if environment or not trained else sorted(trained)
    pair, world = [field.environments[name] for name in field.environments.pair or ()], field.settle(world)
    composed = heuristic_ensemble(found, pair[0], pair[1], heuristic_tau) if heuristic_tau and pair else []
    comparison = Comparison(field, [*found, *composed], thresholds, world, settings, everywhere)
    with engine.open(opt.say) as pool:
        done = run_comparison(comparison, store, pool)
    if json:
        opt.print_json({"plume": field.origin, "rows": [row.to_dict() for row in done.rows]})
        return
    opt.out.print(done.table(caption(field, settings)))
    warn_other_plume(field, [given.policy for given in found])


def record_names(tested: list[tuple[Path, str]]) -> list[str]:
    """A file name for each policy file and environment; with a digest of the path where two would be the same."""
    names = [f"{path.parent.name}-{path.stem}-in-{environment}" for path, environment in tested]
    digests = ["-" + sha256(str(path.resolve()).encode()).hexdigest()[:8] for path, _ in tested]
    return [f"{name}{digest * (names.count(name) > 1)}.npz" for name, digest in zip(names, digests, strict=True)]


def provenance(policy: Policy, result: Evaluation, world: WorldSettings) -> dict[str, Any]:
    """Header of a file of per-start records: policy, settings, version."""
    import numpy as np

    header = {"format": "whiffclock evaluation 1", "version": __version__, "made_from": policy.made_from}
    return {"header": np.array(dumps(header | {"world": world.to_dict(), "evaluation": result.to_dict()}))}


def caption(field: Plume, settings: EvaluationSettings) -> str:
    """Plume, starts and horizon, in one line."""
    longest = "" if settings.horizon is None else f", at most {settings.horizon} steps"
    return f"{field.origin}; every start cell, start times per cell: {settings.snapshots}{longest}"


def warn_other_plume(field: Plume, policies: list[AnyPolicy]) -> None:
    """Warn about policies that were trained on neither this plume nor the other part of its record."""
    known = (None, field.fingerprint, field.held_out_from)
    others = sum(policy.made_from.get("plume") not in known for policy in policies)
    if others:
        opt.messages.print(f"{others} of {len(policies)} policies were trained on another plume.")
