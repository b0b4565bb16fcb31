"""``whiffclock evaluate`` and ``whiffclock compare``: performance of policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whiffclock import __version__
from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.params import EvaluationSettings, InputError, WorldSettings, require
from whiffclock.world.robot import RobotSettings

if TYPE_CHECKING:
    from whiffclock.evaluation import Evaluation
    from whiffclock.plume import Plume
    from whiffclock.policy import Policy
    from whiffclock.runs.engine import EngineSettings

Policies = Annotated[list[Path], typer.Argument(metavar="POLICY...", help=opt.POLICIES_HELP)]


@app.command()
@with_options
def evaluate(
    *,
    policies: Policies,
    plume: opt.PlumeSettings,
    environment: opt.Environment = None,
    settings: EvaluationSettings,
    world: opt.World,
    robot: Annotated[RobotSettings, OptionGroup(panel="Robot")],
    records: Annotated[Path | None, "Write the result of every search to this folder.", OptionSpec("DIR")] = None,
    engine: opt.Engine,
    json: opt.AsJson = False,
) -> None:
    """Evaluate policies from every start: reward G, speed T_min/T, success f+.

    Each policy is evaluated in its training environment, unless --environment
    is given.

    Example: whiffclock evaluate policies -e sparse
    """
    from whiffclock.archive import write_npz
    from whiffclock.disk import require_writable
    from whiffclock.runs.comparison import find_policies, label_of

    found = find_policies(policies)
    if records is not None:
        require_writable(records)
    field = plume.open()
    world, robot = field.settle(world), robot.settle(field)
    tests = list(in_environments(found, field, environment))
    require_sound(plume, field, world, settings, tests)
    tested = [result for result, _ in evaluated(tests, field, world, settings, engine, robot)]
    if records is not None:
        names = record_names([(path, result.environment) for (path, *_), result in zip(tests, tested, strict=True)])
        for name, (_, policy, _), result in zip(names, tests, tested, strict=True):
            write_npz(records / name, provenance(policy, result, world) | result.arrays())
    if json:
        each = zip(tests, tested, strict=True)
        rows = [{"file": str(file), "environment": one.environment, **one.to_dict()} for (file, *_), one in each]
        opt.print_json(rows)
    else:
        show_table([label_of(path) for path, *_ in tests], tested, field, settings)
        warn_other_plume(field, [policy for _, policy in found], settings)


def in_environments(
    found: Iterable[tuple[Path, Policy]], field: Plume, environment: list[str] | None
) -> Iterator[tuple[Path, Policy, float]]:
    """Each policy with the given thresholds, or with its own."""
    for path, policy in found:
        own = [] if policy.threshold is None else [policy.threshold]
        thresholds = opt.thresholds_in(field, environment) if environment else own
        require(bool(thresholds), f"{path} has no training environment; give one with --environment.")
        yield from ((path, policy, threshold) for threshold in thresholds)


def require_sound(
    plume: opt.PlumeSettings,
    field: Plume,
    world: WorldSettings,
    settings: EvaluationSettings,
    tests: Sequence[tuple[object, Policy, float]],
) -> None:
    """Stop where the plume of some tests is doubtful."""
    from whiffclock.evaluation import own_horizon

    longest = settings.horizon or max(own_horizon(policy) for _, policy, _ in tests)
    plume.require_sound(field, world, longest, {at for *_, at in tests})


def evaluated(
    tests: Sequence[tuple[object, Policy, float]],
    field: Plume,
    world: WorldSettings,
    settings: EvaluationSettings,
    engine: EngineSettings,
    robot: RobotSettings | None = None,
) -> list[tuple[Evaluation, float]]:
    """Search from every start with policies, each with a name, at a threshold; and microseconds per decision."""
    from whiffclock.runs.comparison import evaluations
    from whiffclock.runs.jobs import Account, JobMemory
    from whiffclock.runs.kinds import Evaluate, Given

    body, where = robot or RobotSettings(), field.fingerprint
    jobs = [Evaluate(Given.of(policy), where, at, world, settings, robot=body) for _, policy, at in tests]
    account = Account()
    with engine.open(opt.say) as pool, opt.job_bar(None, "searches") as bar:
        results = evaluations(jobs, field, JobMemory(), pool, bar, account)
    decisions = [int(result.mode_steps.sum()) for result in results]
    each = (1e6 * account.of_job[job.key] / count for job, count in zip(jobs, decisions, strict=True))
    return list(zip(results, each, strict=True))


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
    from whiffclock.drawing.tables import comparison_table
    from whiffclock.runs.comparison import Comparison, contenders, find_policies, heuristic_ensemble
    from whiffclock.runs.jobs import JobFolder, JobMemory

    found = [policy for _, policy in find_policies(policies)]
    trained = {policy.threshold for policy in found if policy.threshold is not None}
    field, named = plume.open(), contenders(found)
    thresholds = opt.thresholds_in(field, environment) if environment or not trained else sorted(trained)
    pair, world = [field.environments[name] for name in field.environments.pair or ()], field.settle(world)
    try:
        named += heuristic_ensemble(found, pair[0], pair[1], heuristic_tau) if heuristic_tau and pair else []
    except InputError as error:
        opt.say(f"Without 2Q^h: {error}")
    comparison = Comparison(field, named, thresholds, world, settings, everywhere)
    assert comparison.settings.horizon is not None
    plume.require_sound(field, world, comparison.settings.horizon, thresholds)
    results = JobMemory() if store is None else JobFolder(store)
    with engine.open(opt.say) as pool, opt.job_bar(store, "searches") as bar:
        rows = comparison.rows(results, pool, bar)
    if json:
        opt.print_json({"plume": field.origin, "rows": [row.to_dict() for row in rows]})
        return
    opt.out.print(comparison_table(rows, caption=caption(field, comparison.settings)))
    warn_other_plume(field, found, settings)


def record_names(tested: list[tuple[Path, str]]) -> list[str]:
    """A file name for each policy file and environment; with a digest of the path where two would be the same."""
    from whiffclock.runs.comparison import label_of

    labels = (label_of(path).replace("/", "-").replace(":", "-") for path, _ in tested)
    names = [f"{label}-in-{environment}" for label, (_, environment) in zip(labels, tested, strict=True)]
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


def warn_other_plume(field: Plume, policies: Sequence[Policy], settings: EvaluationSettings) -> None:
    """Warn about policies that were made on these snapshots among others, or on another plume."""
    made = [policy.made_from.get("plume") for policy in policies]
    shares = [(policy.made_from.get("optimize") or {}).get("train_share", 0) for policy in policies]
    here = [share for one, share in zip(made, shares, strict=True) if one in (field.fingerprint, field.part_of)]
    if (share := max(here, default=0)) and (field.part_of or settings.after < share):
        searched = f"{sum(map(bool, here))} of {len(policies)} programs were searched in the first {share:.0%}"
        opt.say(f"{searched} of this record; --after {share:g}, without --part, tests them on the rest.")
    seen = sum(one == field.part_of and not share for one, share in zip(made, shares, strict=True) if field.part_of)
    others = sum(one not in (None, field.fingerprint, field.held_out_from, field.part_of) for one in made)
    if seen:
        leak = f"{seen} of {len(policies)} policies were trained on the whole record, which includes this part"
        opt.say(f"{leak}: this is not a test on unseen turbulence.")
    if others:
        opt.say(f"{others} of {len(policies)} policies were trained on another plume.")
