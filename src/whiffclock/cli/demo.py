"""``whiffclock demo``: the main job in small, in about a minute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import ENVIRONMENTS, ClockSettings, EvaluationSettings, LearningSettings, require


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for policies, table and picture.")] = Path("demo"),
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    episodes: Annotated[int, typer.Option(help="Training episodes per agent.")] = 300_000,
    seeds: Annotated[int, typer.Option(help="Agents per kind and environment.")] = 4,
    workers: Annotated[int | None, typer.Option(help="Trainings at once; default: all cores.")] = None,
) -> None:
    """Train single-Q and two-Q agents in the four environments and judge them beside cast-and-surge."""
    from whiffclock.agents.qlearning import Task
    from whiffclock.archive import require_writable
    from whiffclock.cli.judge import caption
    from whiffclock.experiments.ensembles import train_ensembles
    from whiffclock.experiments.performance import compare, heuristic_ensemble
    from whiffclock.experiments.tuning import balanced_tau
    from whiffclock.report.paths import recovery_picture
    from whiffclock.report.tables import comparison_markdown, comparison_table

    require(seeds >= 1, f"--seeds is {seeds}; at least one agent is needed.")
    require_writable(out)
    field = opt.open_plume(plume, source)
    learning = LearningSettings.shortened(episodes)
    opt.out.print(f"Plume: {field.origin}")
    tasks = []
    for name, threshold in ENVIRONMENTS.items():
        with opt.talk.status(f"choosing tau for the {name} plume"):
            tau = balanced_tau(field, threshold)
        for clock in (ClockSettings(), ClockSettings(taus=(tau,))):
            tasks += [Task(field, threshold, clock, learning, seed=seed) for seed in range(seeds)]
    with opt.training_bar(len(tasks), episodes, out / "policies") as progress:
        done = train_ensembles(tasks, out / "policies", workers, progress)
    policies = [policy for policy, _ in done]

    settings = EvaluationSettings()
    everyone = policies + heuristic_ensemble(policies, ENVIRONMENTS["dense"], ENVIRONMENTS["sparse"])
    with opt.talk.status("evaluating"):
        rows = compare(field, everyone, list(ENVIRONMENTS.values()), settings=settings)
    about = f"{caption(field, settings)}; {seeds} agents of {episodes:,} episodes (the paper: 20 of 3,000,001)"
    opt.out.print(comparison_table(rows, "Median (range) over agents; cast-and-surge: mean ±s.e.", about))
    (out / "table.md").write_text(comparison_markdown(rows, about + "."))
    (out / "table.json").write_text(json.dumps([row.to_dict() for row in rows], indent=2))

    best = []
    for row in rows:
        here = [p for p in policies if p.name == row.agent and p.threshold == ENVIRONMENTS[row.environment]]
        if here:
            best.append((row.environment, here[int(row.values("G").argmax())]))
    recovery_picture(
        best,
        out / "recovery.png",
        f"Path after the last whiff (red), darker with time, up to the longest blank of the last {learning.record_last}"
        f" training episodes.\nBest of {seeds} agents each, {episodes:,} episodes. Plume: {field.origin}.",
        truncation="longest blank",
    )
    opt.out.print(f"Table: {out}/table.md   picture of the recovery paths: {out}/recovery.png")
