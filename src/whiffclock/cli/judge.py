"""``whiffclock evaluate`` and ``whiffclock compare``: how good are policies?"""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whiffclock import __version__
from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import ENVIRONMENTS, EvaluationSettings, environment_name, require

if TYPE_CHECKING:
    from whiffclock.evaluate import Evaluation
    from whiffclock.params import WorldSettings
    from whiffclock.plume import Plume
    from whiffclock.policy import Policy

Policies = Annotated[list[Path], typer.Argument(metavar="POLICY...", help="Policy files, or folders of them.")]
Snapshots = Annotated[int, typer.Option(help="Start snapshots per cell, stratified over the record.")]
Seed = Annotated[int, typer.Option(help="Seed of the start snapshots.")]
Gamma = Annotated[float, typer.Option(help="Discount in G.")]
Horizon = Annotated[
    int | None, typer.Option(help="Steps allowed per search; default: those of training, of all the longest.")
]


@app.command()
def evaluate(
    policies: Policies,
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    part: opt.Part = "all",
    train_share: opt.TrainShare = 0.5,
    environment: opt.Environment = None,
    snapshots: Snapshots = EvaluationSettings.snapshots,
    seed: Seed = EvaluationSettings.seed,
    gamma: Gamma = EvaluationSettings.gamma,
    horizon: Horizon = None,
    radius: opt.Radius = 2.0,
    start_threshold: opt.StartThreshold = "7e-6",
    start_on_whiff: opt.StartOnWhiff = False,
    end_of_record: opt.EndOfRecord = "wrap",
    records: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep per-start records here.")] = None,
    json: opt.AsJson = False,
) -> None:
    """Search from every start without exploration: G, T_min/T and f+, with standard errors.

    Each policy is tested in the environment it was trained in, unless environments are named.
    """
    from rich.progress import track

    from whiffclock.archive import require_writable, write_npz
    from whiffclock.evaluate import evaluate as judge
    from whiffclock.paper.tables import evaluation_table
    from whiffclock.runs.ensembles import find_policies

    settings = EvaluationSettings(snapshots, seed, gamma, horizon)
    world = opt.world_settings(radius, start_threshold, start_on_whiff, end_of_record)
    found = find_policies(policies)
    if records is not None:
        require_writable(records)
    jobs = []
    for path, policy in found:
        own = [] if policy.threshold is None else [policy.threshold]
        thresholds = opt.parse_thresholds(environment) if environment else own
        require(bool(thresholds), f"{path} belongs to no environment; name one with --environment.")
        jobs += [(path, policy, threshold) for threshold in thresholds]
    field = opt.open_plume(plume, source, part, train_share)
    named = []
    for path, policy, threshold in track(jobs, "evaluating", console=opt.talk, transient=True):
        result = judge(policy, field, threshold, world, settings)
        named.append((path, environment_name(threshold), result))
    if records is not None:
        names = record_names([(path, name) for path, name, _ in named])
        for name, (_, policy, _), (_, _, result) in zip(names, jobs, named, strict=True):
            write_npz(records / name, provenance(policy, result, world) | result.arrays())
    if json:
        opt.print_json([{"file": str(path), "environment": name, **result.to_dict()} for path, name, result in named])
        return
    rows = [(f"{path.parent.name}/{path.stem}", name, result) for path, name, result in named]
    opt.out.print(evaluation_table(rows, "Mean over all starts ± standard error", caption(field, settings)))
    warn_other_plume(field, [policy.made_from.get("plume") for _, policy in found])


@app.command()
def compare(
    policies: Policies,
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    part: opt.Part = "all",
    train_share: opt.TrainShare = 0.5,
    environment: opt.Environment = None,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="Test every policy in every plume.")] = False,
    heuristic_tau: Annotated[int, typer.Option(help="tau of 2Q^h; 0 leaves 2Q^h out.")] = 10,
    snapshots: Snapshots = EvaluationSettings.snapshots,
    seed: Seed = EvaluationSettings.seed,
    gamma: Gamma = EvaluationSettings.gamma,
    horizon: Horizon = None,
    radius: opt.Radius = 2.0,
    start_threshold: opt.StartThreshold = "7e-6",
    start_on_whiff: opt.StartOnWhiff = False,
    end_of_record: opt.EndOfRecord = "wrap",
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run store to keep results in; default: none.")
    ] = None,
    json: opt.AsJson = False,
) -> None:
    """Put ensembles side by side, with 2Q^h and tuned cast-and-surge, on the same starts."""
    from tempfile import TemporaryDirectory

    from whiffclock.evaluate import own_horizon
    from whiffclock.paper.tables import comparison_table
    from whiffclock.runs.engine import cores
    from whiffclock.runs.ensembles import Comparison, find_policies, heuristic_ensemble
    from whiffclock.runs.jobs import JobStore, missing, work_in
    from whiffclock.runs.kinds import Given
    from whiffclock.runs.store import Store

    world = opt.world_settings(radius, start_threshold, start_on_whiff, end_of_record)
    found = [Given.of(policy) for _, policy in find_policies(policies)]
    longest = max(own_horizon(given.policy) for given in found)
    settings = EvaluationSettings(snapshots, seed, gamma, longest if horizon is None else horizon)
    trained = {given.policy.threshold for given in found if given.policy.threshold is not None}
    thresholds = opt.parse_thresholds(environment) if environment or not trained else sorted(trained)
    field = opt.open_plume(plume, source, part, train_share)
    dense, sparse = ENVIRONMENTS["dense"], ENVIRONMENTS["sparse"]
    composed = heuristic_ensemble(found, dense, sparse, heuristic_tau) if heuristic_tau else []
    comparison = Comparison(field, [*found, *composed], thresholds, world, settings, everywhere)
    with TemporaryDirectory() as folder, opt.progress_bar("searches") as bar:
        results = JobStore(Store(store or Path(folder)))
        tests = [job for jobs in comparison.tests().values() for job in jobs]
        task = bar.add_task("testing", total=work_in(missing(tests, results), field))
        rows = comparison.rows(results, cores(), lambda n: bar.update(task, advance=n))
    if json:
        opt.print_json({"plume": field.origin, "rows": [row.to_dict() for row in rows]})
        return
    opt.out.print(comparison_table(rows, "Median (range) of an ensemble, mean ±s.e. of one", caption(field, settings)))
    warn_other_plume(field, [given.policy.made_from.get("plume") for given in found])


def record_names(tested: list[tuple[Path, str]]) -> list[str]:
    """A file name for each policy file and environment; with a digest of the path where two would be the same."""
    names = [f"{path.parent.name}-{path.stem}-in-{environment}" for path, environment in tested]
    digests = [sha256(str(path.resolve()).encode()).hexdigest()[:8] for path, _ in tested]
    return [
        f"{name}.npz" if names.count(name) == 1 else f"{name}-{digest}.npz"
        for name, digest in zip(names, digests, strict=True)
    ]


def provenance(policy: Policy, result: Evaluation, world: WorldSettings) -> dict[str, Any]:
    """What made a file of per-start records, as its header."""
    import numpy as np

    header = {
        "format": "whiffclock evaluation 1",
        "version": __version__,
        "made_from": policy.made_from,
        "world": world.to_dict(),
        "evaluation": result.to_dict(),
    }
    return {"header": np.array(dumps(header))}


def caption(field: Plume, settings: EvaluationSettings) -> str:
    """What was run, in one line."""
    longest = "" if settings.horizon is None else f", at most {settings.horizon} steps"
    return f"{field.origin}; every start cell, {settings.snapshots} snapshots each{longest}"


def warn_other_plume(field: Plume, trained_on: list[str | None]) -> None:
    """Say so when policies meet a plume they were not trained on, nor on the part it was held out from."""
    known = (None, field.fingerprint, field.held_out_from)
    strangers = sum(1 for fingerprint in trained_on if fingerprint not in known)
    if strangers:
        opt.talk.print(f"{strangers} of {len(trained_on)} policies were trained on another plume than this one.")
