"""What the report page tells in words: the task, the agents, the run, the plume, the terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.results import Result

INTRODUCTION = """<section id="about">
<h2>What this is about</h2>
<p>Wind carries an odor away from its source and tears it into patches. Whoever follows it upwind smells a
<em>whiff</em> now and then, and in between nothing: a <em>blank</em>. Nothing in a blank tells where the plume is.
How should one search for it, and how much must one remember to search well?</p>
<p>The searcher here remembers one number: how long ago it last smelled anything. This <em>clock</em> starts anew
with every whiff. For every reading of the clock the agent learns one of four moves (upwind, downwind, or to either
side) by trial and error (tabular Q-learning). So what it does after losing the plume is one fixed path, and the shape
of that path can be measured: first a surge upwind, then casts to the sides, in the end a return downwind.</p>
<p>Agents that share this task, on the same starts:</p>
<ul>
<li><b>Single-Q</b> has the clock and nothing else.</li>
<li><b>Two-Q</b> has two such paths. It takes the one called Q− if the blank that its last whiff ended was short,
as in the core of the plume, and Q+ if it was long.</li>
<li><b>2Qʰ</b> is a two-Q agent put together from a single-Q agent trained in a dense plume and one trained in a
sparse plume, without further training.</li>
<li><b>Cast-and-surge</b> is a hand-made rule: upwind on a whiff, widening zigzags in a blank. Its one angle is
tuned.</li>
<li>The <b>Bayesian agent</b> remembers everything as a probability of every position, and plans with it. It says
what could be had at best, nearly.</li>
</ul>
<p>The four <em>environments</em>, denser, dense, sparse and sparser, are one plume smelled by noses of four
sensitivities: the higher the threshold, the fewer whiffs. Agents are compared by three measures: the return
<em>G</em>, which is what they learn to raise (1 for arriving, less a little for every step); how direct their way was,
<em>T</em><sub>min</sub>/<em>T</em>; and the share of searches that arrive, <em>f</em><sup>+</sup>.</p>
</section>"""

GLOSSARY = """<section id="terms">
<h2>Terms</h2>
<dl>
<dt>Whiff, blank</dt><dd>Odor at or above the threshold of an environment; the time without.</dd>
<dt>Clock</dt><dd>Steps since the last whiff: all that a single-Q agent knows.</dd>
<dt>Mode, tau</dt><dd>Q− or Q+, by the length of the blank that the last whiff ended; from tau steps on it is
long.</dd>
<dt>Void trajectory</dt><dd>The path of an agent that smells nothing more after a whiff.</dd>
<dt>Surge length</dt><dd>Its upwind moves before the first two others in a row.</dd>
<dt>Cast width</dt><dd>How far it extends across the wind.</dd>
<dt>Upwind search</dt><dd>How far upwind of its start it reaches.</dd>
<dt>Backtracking length</dt><dd>How far it extends along the wind, as the paper prints it; “after the extreme” is the
return alone, as the paper draws it.</dd>
<dt>Backtracking initiation</dt><dd>Moves before the first three downwind moves in a row. There may be none; such a
path ranks after all that do return.</dd>
<dt>Horizon</dt><dd>The longest search; whoever takes longer has failed.</dd>
<dt>Start cells</dt><dd>Cells that smell at least once at the highest threshold; searches start there.</dd>
<dt>Trend</dt><dd>Of two agents from different environments, the probability that the one from the sparser has the
larger value, minus the probability that it has the smaller: 1 if values always grow with sparsity, 0 if they do not
depend on it, −1 if they always shrink.</dd>
<dt>Time stratum</dt><dd>A stretch of the record. Searches that start in the same stretch are not independent, so
strata are resampled as a whole.</dd>
</dl>
</section>"""


def run_section(results: Mapping[str, Result], profile: Profile) -> str:
    """What was run, and how the agents did."""
    facts = next(iter(results.values())).facts if results else {}
    rows = [
        ("Agents of each kind, in each environment", profile.seeds),
        ("Training episodes of each", profile.episodes),
        ("Test searches of each, per environment", facts.get("searches")),
        ("Start times per cell", profile.snapshots),
        ("Longest search, steps", profile.horizon),
        ("Values of tau tried, and agents for each", f"{len(profile.taus)}, {profile.scan_seeds}"),
        ("Backups of the Bayesian agent’s solver", profile.bayes_backups),
    ]
    cells = "".join(
        f'<tr><th>{escape(label)}</th><td class="number">{_cell(value)}</td></tr>'
        for label, value in rows
        if value is not None
    )
    return f"""<section id="run">
<h2>What was run</h2>
<p>The profile <b>{escape(profile.name)}</b>. The paper has 20 agents of each kind and environment, each trained for
3,000,001 episodes.</p>
<div class="scroll"><table class="small"><tbody>{cells}</tbody></table></div>
{_performance(results)}
</section>"""


def _performance(results: Mapping[str, Result]) -> str:
    if "fig2" not in results:
        return ""
    result = results["fig2"]
    kinds = [("Single-Q", "single"), ("Two-Q", "two"), ("2Qʰ", "heuristic")]
    lines = [(label, [_pair(np.median(one, axis=0)) for one in result[name]]) for label, name in kinds]
    lines.append(("Cast-and-surge", [_pair(one[:, 0]) for one in result["cast"]]))
    lines.append(("Bayesian", [_pair(one[:, 0]) for one in result["bayes"]]))
    return _table(
        "How the agents did",
        ["", *result.facts["environments"]],
        [[label, *cells] for label, cells in lines],
        "Return G and share of searches that arrive, each the median over the ensemble.",
    )


def _pair(measures: np.ndarray) -> str:
    return f"{measures[0]:.2f} · {100 * measures[2]:.0f}%".replace("-", "−")


def plume_section(results: Mapping[str, Result], plume: Mapping[str, Any]) -> str:
    """On which plume, and what it is like."""
    origin = str(plume["origin"])
    if "simulated by whiffclock" in origin:
        kind = """<p class="note">This plume is synthetic: simulated by whiffclock. It is not the direct numerical
simulation of the paper, whose data are not public. A claim that does not hold here may hold there, and the other way
round.</p>"""
    else:
        kind = """<p class="note">This plume was supplied by the user; what is said here is said of it.</p>"""
    snapshots, length, width = (int(n) for n in plume["shape"])
    x, y = plume["source"]
    return f"""<section id="plume">
<h2>The plume</h2>
<p>{escape(origin[:1].upper() + origin[1:])}: {snapshots:,} snapshots of {length} × {width} cells, the source at
({escape(str(x))}, {escape(str(y))}), the wind along the first axis. A searcher moves one cell per snapshot.</p>
{kind}
{_statistics(results)}
</section>"""


def _statistics(results: Mapping[str, Result]) -> str:
    if "fig1" not in results:
        return ""
    result = results["fig1"]
    probability, mask = result["probability"], result["mask"] > 0
    (x0, y0), length = result.facts["source"], probability.shape[1]
    places = [x for x in (10, 30, 60, 100) if x0 + x < length]
    header = ["", "threshold", *(f"axis, x = {x}" for x in places), "start cells"]
    blank = results["fig6"]["blank"] if "fig6" in results else None
    rows = []
    for e, name in enumerate(result.facts["environments"]):
        axis = [f"{100 * probability[e, x0 + x, y0]:.1f}%" for x in places]
        row = [name, f"{result.facts['thresholds'][e]:g}", *axis, f"{100 * probability[e][mask].mean():.1f}%"]
        rows.append(row if blank is None else [*row, f"{_median(blank[e][mask]):.0f}"])
    about = "Probability of a whiff on the plume’s axis, x cells from the source, and averaged over the start cells."
    if blank is not None:
        header.append("blank")
        about += " Last, the mean blank of a start cell in snapshots, median over the cells."
    return _table("How often it smells", header, rows, about)


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], about: str) -> str:
    head = "".join(f'<th class="number">{escape(name)}</th>' if name else "<th></th>" for name in header)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>"
        + "".join(f'<td class="number">{escape(one)}</td>' for one in row[1:])
        + "</tr>"
        for row in rows
    )
    table = f'<table class="small"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<h3>{escape(title)}</h3>\n<p>{escape(about)}</p>\n<div class="scroll">{table}</div>'


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else escape(str(value))
