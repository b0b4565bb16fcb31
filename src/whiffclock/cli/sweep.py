"""``whiffclock sweep``: train and test agents over a grid of settings, and draw the results."""

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.help import App, RunGroup
from whiffclock.disk import require_replaceable, require_writable
from whiffclock.params import require
from whiffclock.runs.engine import EngineSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from whiffclock.runs.jobs import JobStore
    from whiffclock.runs.sweep import Sweep

_HELP = """Run a grid of settings from a file, and draw the results.

Example: whiffclock sweep examples/clock_length.toml --dry-run"""
sweep_app = App(RunGroup, help=_HELP)
app.add_typer(sweep_app, name="sweep")


@sweep_app.command("run")
@with_options
def run_sweep(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Sweep file, in TOML.")],
    out: Annotated[Path | None, "Folder for the results; default: the name of FILE.", OptionSpec("DIR")] = None,
    store: opt.StoreFolder = None,
    engine: opt.Engine,
    dry_run: Annotated[bool, "Only show the jobs, and about how long they take."] = False,
    anyway: Annotated[bool, "Go on where a plume looks wrong (see docs/data.md)."] = False,
) -> None:
    """Train and test agents at all points of a grid of settings.

    FILE gives each setting a value, or a list of values to sweep over, such as
    gamma = [0.99, 0.998]. The results are one dataset, DIR/sweep.nc. Finished
    work is cached: after an interruption, the same command continues. The word
    run can be left out.

    Example: whiffclock sweep examples/clock_length.toml --dry-run
    """
    from whiffclock.netcdf import write_dataset
    from whiffclock.runs.jobs import JobFolder
    from whiffclock.runs.sweep import Sweep, results_in, training

    folder = Path(file.stem) if out is None else out
    kept = results_in(folder) if store is None else store
    sweep, results = Sweep.of(file), JobFolder(kept)
    if dry_run:
        opt.out.print(jobs_table(sweep, results, engine))
        return
    for plume, tests in sweep.by_plume():
        trainings = [training(test) for test in tests]
        longest = max(one.learning.horizon for one in trainings)
        densest = min(test.threshold for test in tests)  # a sweep may well have thresholds that hardly differ
        opt.refuse_doubtful(plume, tests[0].world, longest, [densest], anyway=anyway)
    result = folder / "sweep.nc"
    require_writable(folder)
    require_writable(kept)
    require_replaceable(result)
    with engine.open(opt.say) as pool, opt.job_bar(kept, "episodes") as bar:
        bar.begin(f"sweeping ({len(sweep.tests)} agents)", sweep.work(results))
        data = sweep.run(results, pool, bar.advance)
    write_dataset(result, data)
    sizes = ", ".join(f"{name} ({size})" for name, size in data.sizes.items())
    opt.out.print(f"{result}: {', '.join(map(str, data))} by {sizes}.", soft_wrap=True)
    opt.say_next("sweep", "plot", result)


@sweep_app.command()
@with_options
def plot(
    *,
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Result of a sweep, such as DIR/sweep.nc.")],
    metric: Annotated[list[str] | None, "G, T_min/T, f+ or G_sum; may be repeated. Default: the first three."] = None,
    x: Annotated[str | None, "Setting along x; default: the one with most values.", OptionSpec("NAME")] = None,
    at: Annotated[list[str] | None, "Only this value of a setting; may be repeated.", OptionSpec("NAME=VALUE")] = None,
    level: Annotated[
        str | None, "Value of the setting along x: dotted lines at its medians.", OptionSpec("VALUE")
    ] = None,
    title: Annotated[str, "Title of lines.png.", OptionSpec("TEXT")] = "",
    out: Annotated[Path | None, "Folder for the pictures; default: that of RESULT.", OptionSpec("DIR")] = None,
) -> None:
    """Draw the results of a sweep: metrics against a setting, and maps of two.

    lines.png has a dot for every agent and lines through their medians, map.png
    (for two settings) the medians. Both are written as PDF as well.

    Example: whiffclock sweep plot clock_length/sweep.nc --metric f+
    """
    from whiffclock.drawing.pictures import arranged, write_picture
    from whiffclock.sweep_plots import METRICS, choose, draw_lines, draw_map, load_sweep

    fixed = dict(parse_at(text) for text in at or [])
    folder = result.parent if out is None else out
    require_writable(folder)
    data = choose(load_sweep(result), fixed)
    metrics = metric or METRICS
    drawings: dict[str, Callable[[], Figure]] = {"lines": lambda: draw_lines(data, metrics, x, title, level)}
    if len(data.dims) > 2:
        drawings["map"] = lambda: draw_map(data, metrics, x)
    for name, draw in drawings.items():
        picture = arranged(draw)
        for form in ("png", "pdf"):
            opt.out.print(str(write_picture(picture, folder / f"{name}.{form}")), soft_wrap=True)


def parse_at(text: str) -> tuple[str, str]:
    """``"gamma=0.99"`` to a setting and its value."""
    name, equals, value = text.partition("=")
    require(bool(name and equals and value), f"--at is {text!r}; it must be a setting and a value: gamma=0.99.")
    return name.strip().replace(".", "_"), value.strip()


def jobs_table(sweep: "Sweep", store: "JobStore", engine: EngineSettings) -> Table:
    """The grid, the number of jobs, and an estimate of time."""
    from whiffclock.runs.sweep import estimate, labels, training

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    table.add_column("number", justify="right")
    table.add_column("values", overflow="fold")
    for name in (*sweep.grid.swept, "seeds"):
        values = sweep.grid.values[name]
        shown = map(sweep.environments.name_of, values) if name == "threshold" else labels(values).tolist()
        table.add_row(name, str(len(values)), listed(list(shown)))
    table.add_section()
    for title, jobs in (("trainings", [training(test) for test in sweep.tests]), ("tests", sweep.tests)):
        cached = sum(store.has(job) for job in jobs)
        table.add_row(title, str(len(jobs)), f"{cached} of them cached")
    with opt.messages.status("measuring a few short trainings"):
        seconds = estimate(sweep, store)
    each = f", {readable_time(seconds / engine.at_once)} on {engine.at_once} free cores"
    about = f"{readable_time(seconds)} on one core{each if engine.at_once > 1 and engine.scheduler is None else ''}"
    table.add_row("time", "", f"about {about}: an estimate from a few short trainings")
    return table


def listed(values: list[object], most: int = 16) -> str:
    """All of some values, or the first ones and the last."""
    from whiffclock.runs.sweep import spelled

    words = [spelled(value) for value in values]
    return ", ".join(words if len(words) <= most else [*words[: most - 2], "...", words[-1]])


def readable_time(seconds: float) -> str:
    """A time in the largest unit of which it has at least two."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{ceil(seconds)} s"
