"""Pages quote measurements: tables between ``<!-- bench NAME -->`` and ``<!-- end bench -->`` come from this file.

python benchmarks/page.py            # renew tables and pictures from docs/benchmarks.json
python benchmarks/page.py --check    # exit code 1 if a page quotes something else
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from peers import LEARNERS, NOT_MEASURED, SEARCHERS, Peer

ROOT = Path(__file__).parents[1]
MEASURED, PICTURE = ROOT / "docs/benchmarks.json", ROOT / "docs/benchmarks.png"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"(<!-- bench (\w+) -->\n).*?(<!-- end bench -->)", re.DOTALL)

#: Contestants that are not packages: what they are.
OWN_LEARNERS = {
    "training.whiffclock": "whiffclock's kernel, single-Q",
    "training.whiffclock.two_q": "whiffclock's kernel, two-Q",
    "training.c": "same algorithm in C (fastest of 4 compiler settings)",
    "training.numpy": "the same updates, 1,000 agents in lockstep with NumPy",
    "training.python": "the same updates in plain Python",
}
#: Names in the picture, where they are not those of packages.
DRAWN = {
    "training.whiffclock.two_q": "whiffclock, two-Q",
    "training.c": "plain C",
    "training.numpy": "NumPy, 1,000 agents",
    "training.python": "plain Python",
    "training.gymnasium": "Gymnasium loop",
    "training.plume-nav-sim": "plume-nav-sim, no learning",
}
OWN_SEARCHERS = {
    "search.whiffclock": "rollout kernel, any policy made of tables",
    "search.policy": "batched loop with a policy in Python",
    "search.python": "one search after the other in Python",
    "search.bayes": "Bayesian agent, 1,600 searches at the same time",
    "search.bayes.64_starts": "Bayesian agent, 64 searches at the same time",
    "search.infotaxis": "infotaxis, 16 searches at the same time",
}
ENVIRONMENTS = {
    "gym.learning": "whiffclock's own Q-learning, which moves and learns in one loop",
    "gym.loop": "4,096 searches in a compiled loop, without Gymnasium",
    "gym.vector": "4,096 searches, `make_vec`; observation: the whiff bit",
    "gym.vector.same_step": "the same, which begin again in the same step",
    "gym.vector.five_kinds": "the same with all five kinds of observation",
    "gym.cartpole": '4,096 poles, Gymnasium\'s own `make_vec("CartPole-v1")`',
    "gym.single": "one search, `make(...).unwrapped`",
    "gym.single.made": "one search, `make(...)`",
    "gym.by_hand": "one search in an environment of 25 lines over the search loop",
    "gym.cartpole.single": 'one pole, Gymnasium\'s own `make("CartPole-v1").unwrapped`',
}
SERIES = {
    "grid.training": "training step, by cells of the grid",
    "grid.rollout": "step of a search, by cells of the grid",
    "grid.belief": "update of a belief, by cells of the grid",
    "modes.training": "training step, by modes of the agent",
    "vectors.decision": "decision of the Bayesian agent, by alpha vectors",
    "record.training": "training step, by snapshots of the record",
    "record.load": "reading a plume and finding its whiffs, by snapshots",
    "threads.large_grid": "four trainings on the largest grid, by threads (wall time)",
}

#: Bounds of the reference solver that were measured elsewhere, by problem and seconds.
REFERENCE = {
    ("hallway", 30): "0.9834 / 1.2154",
    ("hallway2", 30): "0.3246 / 0.9138",
    ("TagAvoid", 30): "-5.959 / -2.522",
    ("RockSample_7_8", 30): "21.064 / 24.742",
    ("iff", 30): "8.98 / 9.93",
    ("aloha.10", 30): "535 / 545",
    ("machine", 30): "477 / 646",
    ("search", 60): "0.1647 / 0.2943",
}

Measured = dict[str, float]


@cache
def kept() -> dict[str, dict[str, dict]]:
    """What was measured, by benchmark."""
    return json.loads(MEASURED.read_text())


def measured() -> Measured:
    """All measurements by name."""
    found = {name: item["value"] for part in kept().values() for name, item in part["measurements"].items()}
    builds = [value for name, value in found.items() if name.startswith("training.c.")]
    found["training.c"] = max(builds)
    return found | {f"training.{name}_step": 1e9 / found[f"training.{name}"] for name in ("c", "python")}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in GitHub's Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float) -> str:
    """Three digits, without exponents."""
    if abs(value) >= 999_500:
        return f"{value / 1e6:.3g} million"
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def quantity(m: Measured, name: str) -> str:
    """A measurement with its unit."""
    unit = next(part["measurements"][name]["unit"] for part in kept().values() if name in part["measurements"])
    return f"{number(m[name])} {unit}".removesuffix(" 1")


def about(_: Measured) -> str:
    """Where and when each benchmark ran."""
    rows = [
        (
            f"`{name}.py`",
            part["about"]["date"][:16].replace("T", " "),
            f"{part['about']['processors']} x {part['about']['processor']}",
            ", ".join(part["about"][package] for package in ("python", "numpy", "numba")),
        )
        for name, part in kept().items()
    ]
    return table(("benchmark", "date (UTC)", "cores", "Python, NumPy, Numba"), rows)


def rates(m: Measured, names: dict[str, str], unit: str) -> str:
    """Rates of contestants, how many times that the first one is as fast, and the share that arrived if measured."""
    found = {name: what for name, what in names.items() if name in m}
    first, arrived = m[next(iter(found))], any(f"{name}.arrived" in m for name in found)
    rows = [
        (what, number(m[name]), number(first / m[name]), *([share(m.get(f"{name}.arrived"))] if arrived else []))
        for name, what in found.items()
    ]
    return table(("", unit, "slower than whiffclock by a factor of", *(["arrived"] if arrived else [])), rows)


def gym(m: Measured) -> str:
    """Rates of environments."""
    rows = [(what, number(m[name])) for name, what in ENVIRONMENTS.items()]
    return table(("", "steps per CPU second"), rows)


def share(value: float | None) -> str:
    """Percents, or nothing."""
    return "" if value is None else f"{value:.0%}"


def bounds(lower: float, upper: float) -> str:
    """Bounds with four digits."""
    return f"{lower:#.4g} / {upper:#.4g}"


def release(peer: Peer) -> str:
    """A package with its version."""
    return peer.packages[0].replace("==", " ")


def training(m: Measured) -> str:
    packages = {f"training.{peer.name}": f"{release(peer)}: {peer.what}" for peer in LEARNERS}
    return rates(m, OWN_LEARNERS | packages, "steps per CPU second")


def search(m: Measured) -> str:
    (peer,) = SEARCHERS
    agents = {
        "fsvi": "its FSVI agent after 10 expansions, 64 searches",
        "infotaxis": "its infotaxis agent, 16 searches",
    }
    packages = {f"search.{peer.name}.{agent}": f"{release(peer)}: {what}" for agent, what in agents.items()}
    return rates(m, OWN_SEARCHERS | packages, "searches per CPU second")


def others(_: Measured) -> str:
    return table(("package", "why it is not measured"), NOT_MEASURED.items())


def pomdp(m: Measured) -> str:
    """Bounds over time."""
    marks = sorted({float(found[1]) for name in m if (found := re.search(r"^pomdp\..*\.(\d+)s\.lower$", name))})
    rows = []
    for problem in (found[1] for name in m if (found := re.search(r"^pomdp\.(.*)\.ended$", name))):
        key = f"pomdp.{problem}"
        keys = [f"{key}.{mark:g}s" for mark in marks]
        shown = [bounds(m[f"{at}.lower"], m[f"{at}.upper"]) if f"{at}.lower" in m else "" for at in keys]
        rows.append((problem, *shown, f"{m[f'{key}.peak_memory']:.0f} MB"))
    return table(("problem", *(f"{mark:g} s" for mark in marks), "memory"), rows)


def reference(m: Measured) -> str:
    """Bounds beside those that are known of the reference solver."""
    rows = []
    for (problem, seconds), theirs in REFERENCE.items():
        key = f"pomdp.{problem}.{seconds}s"
        if f"{key}.lower" in m:
            rows.append((problem, f"{seconds} s", bounds(m[f"{key}.lower"], m[f"{key}.upper"]), theirs))
    return table(("problem", "after", "whiffclock", "reference"), rows)


def simulated(m: Measured) -> str:
    """Rewards in the search model."""
    names = [name for name in m if name.startswith("pomdp.search.simulated.")]
    return table((name.rpartition(".")[2] for name in names), [[f"{m[name]:.3f}" for name in names]])


def engines(m: Measured) -> str:
    """Speed-up and overhead of the engines."""
    rows = []
    for name in ("threads", "processes", "dask"):
        key = f"engines.{name}"
        one, two, speedup = (m[f"{key}.{what}"] for what in ("one_worker", "two_workers", "speedup"))
        rows.append((name, f"{one:.1f} s", f"{two:.1f} s", f"{speedup:.2f}", f"{m[f'{key}.overhead_per_job']:.1f} ms"))
    return table(("engine", "one worker", "two workers", "speed-up", "overhead per job"), rows)


def deep(m: Measured) -> str:
    """Calculated wall time of the profile deep."""
    names = [name for name in m if name.startswith("engines.deep.calculated.")]
    workers = [name.rpartition(".")[2].partition("_")[0] for name in names]
    return table(("workers", *workers), [("wall time, calculated", *(f"{m[name]:.3g} min" for name in names))])


def scaling(m: Measured) -> str:
    """First and last of each series, and the slope."""
    rows = []
    for series, what in SERIES.items():
        names = points(m, series)
        if names:
            ends = (f"{name.rpartition('.')[2]}: {quantity(m, name)}" for name in (names[0], names[-1]))
            rows.append((what, *ends, f"{m[f'scaling.{series}.slope']:.2f}"))
    return table(("", "smallest", "largest", "slope"), rows)


def points(m: Measured, series: str) -> list[str]:
    """Names of the measurements of a series, without its slope."""
    return [name for name in m if name.startswith(f"scaling.{series}.") and not name.endswith(".slope")]


def full(m: Measured) -> str:
    """Stages at full resolution."""

    def n(name: str) -> str:
        return number(m[f"full.{name}"])

    stages = {
        "record": f"{n('record.whiffs')} MB of whiffs; the field has {n('record.field')} MB",
        "training": f"{n('training.episodes')} episodes, {n('training.step')} ns per step;"
        f" the paper's 3,000,001 would take {n('training.calculated.3000001_episodes')} s (calculated)",
        "evaluation": f"{n('evaluation.searches')} searches, {n('evaluation.rate')} per CPU second,"
        f" f+ {n('evaluation.f_plus')}",
        "bayes": f"{n('bayes.cells')} cells; bounds {n('bayes.last.lower')} / {n('bayes.last.upper')} after"
        f" {n('bayes.last.after')} s, {n('bayes.last.vectors')} vectors; {n('bayes.decision')} ms per decision",
    }
    rows = [(name, f"{n(f'{name}.time')} s", f"{n(f'{name}.memory')} MB", what) for name, what in stages.items()]
    return table(("stage", "wall time", "peak memory", ""), rows)


PLUME = {
    "simulate.rate": "simulation of the turbulent plume",
    "pompy.rate": "pompy",
    "simulate.full_cpu": "simulation of the built-in plume, CPU time",
    "simulate.full_wall": "simulation of the built-in plume, wall time on all cores",
    "builtin_load": "loading the built-in plume",
}


def plume(m: Measured) -> str:
    return table(("", ""), [(what, quantity(m, f"plume.{n}")) for n, what in PLUME.items() if f"plume.{n}" in m])


def summary(m: Measured) -> str:
    """What the README quotes."""
    rate, billions = m["training.whiffclock"] / 1e6, m["training.full.steps"] / 1e9
    rows = {
        "Q-learning, Numba kernel": f"{m['training.whiffclock.step']:.1f} ns per step, {rate:.0f} million per second",
        "same algorithm in C (fastest of 4 compiler settings)": f"{m['training.c_step']:.1f} ns per step",
        "the same updates in plain Python": f"{number(m['training.python_step'])} ns per step",
        f"one full training, 3,000,001 episodes ({billions:.1f} billion steps)": f"{m['training.full']:.1f} s",
        "evaluation of a policy": f"{m['search.whiffclock'] / 1e6:.1f} million searches per second",
        "simulation of the plume, 2598 snapshots": f"{m['plume.simulate.full_cpu']:.0f} s",
        "one plume snapshot": f"{1e3 / m['plume.simulate.rate']:.0f} ms (pompy: {1e3 / m['plume.pompy.rate']:.0f} ms)",
    }
    return table(("task", "CPU time, one core"), rows.items())


BLOCKS: dict[str, Callable[[Measured], str]] = {
    block.__name__: block
    for block in (
        about,
        training,
        search,
        gym,
        others,
        pomdp,
        reference,
        simulated,
        engines,
        deep,
        scaling,
        full,
        plume,
        summary,
    )
}


def draw(m: Measured) -> None:
    """Learning rates of all contestants, and the series against their sizes."""
    import matplotlib.pyplot as plt

    from whiffclock.drawing.style import context

    learners = [name for name in (*OWN_LEARNERS, *(f"training.{peer.name}" for peer in LEARNERS)) if name in m]
    learners.sort(key=m.__getitem__)
    with context():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
        names = [DRAWN.get(name, name.removeprefix("training.")) for name in learners]
        left.semilogx([m[name] for name in learners], names, "o", markersize=4)
        left.grid(axis="y", color="0.9")
        left.set_xlabel("steps per CPU second, one core")
        for series in SERIES:
            times = {size(name): m[name] for name in points(m, series)}
            first, least = next(iter(times.items()))
            label = series.replace(".", ": ").replace("_", " ")
            shown = [n / first for n in times], [time / least for time in times.values()]
            right.loglog(*shown, "o-", markersize=3, label=label)
        right.set_xlabel("size, smallest = 1")
        right.set_ylabel("time, that of the smallest = 1")
        right.legend(frameon=False, fontsize=6)
        figure.savefig(PICTURE, dpi=200)


def size(name: str) -> int:
    """The size at the end of a measurement's name: a number, or that of the cells of a grid."""
    length, _, width = name.rpartition(".")[2].partition("x")
    return int(length) * int(width or 1)


def renewed(page: Path, m: Measured) -> str:
    """The text of a page with its tables renewed."""
    return _BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]](m) + found[3], page.read_text())


def stale() -> list[str]:
    """Names of pages that quote other figures than were measured."""
    m = measured()
    return [page.name for page in PAGES if page.read_text() != renewed(page, m)]


def renew() -> None:
    """Write tables and picture."""
    m = measured()
    for page in PAGES:
        if (text := renewed(page, m)) != page.read_text():
            page.write_text(text)
    draw(m)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(f"{', '.join(pages)}: run python benchmarks/page.py" if (pages := stale()) else 0)
    renew()
