"""The report: one page, its figures, and the claims, all from the datasets of a run.

The page is a single file that loads nothing; for one version of the package its bytes depend on the data alone.
"""

import base64
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import jinja2
import markupsafe
import numpy as np
from matplotlib.ticker import MaxNLocator

import whiffclock
from whiffclock.disk import require_replaceable, require_writable, write_whole
from whiffclock.drawing.pages import page_templates
from whiffclock.formatting import number, plainly, span
from whiffclock.paper.beyond.verdicts import Comparison, beyond_json, compare, headline, programs
from whiffclock.paper.claims import Verdict, claims_json, judge
from whiffclock.paper.claims.verdict import SIGNS
from whiffclock.paper.dataset import (
    PAPER_AGENTS,
    VARIABLES,
    Datasets,
    branches_in,
    drawn_kinds,
    effective_searches,
    where_trained,
)
from whiffclock.paper.figures import BEYOND, FIGURES, Rendered, figures_of, render
from whiffclock.paper.figures.captions import ends_of
from whiffclock.paper.page.finding import finding, kicker, training
from whiffclock.paper.reference import differences as differences_of
from whiffclock.paper.reference import verdicts_beside
from whiffclock.params import LearningSettings

#: Width on the page of an inch of a figure: letters have one size in all figures, about that of the captions.
_REM = 8.5
#: A figure up to this width in inches stands beside text.
_NARROW = 4.0
#: Metrics in the table of performance.
_METRICS = {"G": "Mean reward G", "T_min/T": "Speed, T_min/T", "f+": "Share of searches that arrive, f+"}
#: Plurals of outcomes.
_MANY = {"holds": "hold", "does not hold": "do not hold", "needs full training": "need full training"}
#: Figures of the paper's supplement, which are folded.
_SUPPLEMENT = re.compile(r"s\d+")
#: Distances downwind of the source at which whiffs are counted.
_PLACES = (10, 30, 60, 100)
#: Without verdicts of another run.
NOTHING: Mapping[str, Verdict] = MappingProxyType({})


def write_report(data: Datasets, out: Path, verdicts: Sequence[Verdict] | None = None, workers: int = 1) -> Path:
    """Write ``report.html``, ``figures/``, ``claims.json`` and ``beyond.json`` into ``out``; return the page's path.

    ``verdicts`` are those on the claims, if they have been tested already; figures are drawn by ``workers`` processes.
    """
    (out / "figures").mkdir(parents=True, exist_ok=True)
    verdicts = judge(data) if verdicts is None else verdicts
    figures = render(data, out / "figures", workers=workers)
    page, beyond = out / "report.html", out / "beyond.json"
    found = [] if data.beyond is None else compare(data.beyond, verdicts)
    full_run = verdicts_beside(data), differences_of(data)
    _write(out / "claims.json", claims_json(verdicts, data, *full_run))
    if data.beyond is None:
        beyond.unlink(missing_ok=True)  # of an earlier run with other figures
    else:
        _write(beyond, beyond_json(data.beyond, found))
    _write(page, report_html(data, verdicts, figures.values(), out, found, *full_run))
    return page


def require_report(out: Path) -> None:
    """Refuse, before any work, a folder in which a report and its datasets cannot be written."""
    for folder in (out, out / "data", out / "data" / "beyond", out / "figures"):
        require_writable(folder)
    datasets = [f"{folder}/{name}.nc" for folder in ("data", "data/beyond") for name in VARIABLES]
    pictures = [f"figures/{figure}.{form}" for figure in (*FIGURES, *BEYOND) for form in ("png", "pdf")]
    for name in ("claims.json", "beyond.json", "report.html", *datasets, *pictures):
        require_replaceable(out / name)


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda file: file.write(text.encode()))  # type: ignore[arg-type]


def report_html(
    data: Datasets,
    verdicts: Sequence[Verdict],
    figures: Iterable[Rendered],
    out: Path,
    beyond: Sequence[Comparison] = (),
    reference: Mapping[str, Verdict] = NOTHING,
    differences: Sequence[str] = (),
) -> str:
    """The page's text; files of ``figures`` are linked relative to ``out``.

    ``reference`` are the verdicts of the full run by claim, and ``differences`` says how this run differs from it;
    both are empty if there is none, or if this is it.
    """
    every = {figure.figure: figure for figure in figures}
    shown = {name: figure for name, figure in every.items() if name not in BEYOND}
    supplied = not data.synthetic  # its picture comes before everything else
    return templates().get_template("templates/report.html").render(
        title="Searching for an odor with a clock as memory",
        kicker=kicker(data),
        finding=finding(data, verdicts, reference),
        facts=data.facts,
        readings=readings(data.facts.get("readings", {})),
        paper_agents=PAPER_AGENTS,
        paper_episodes=LearningSettings.episodes,
        training=training(data),
        synthetic=data.synthetic,
        verdicts=verdicts,
        groups=_groups(verdicts),
        reference=reference,
        differences=differences,
        supplied=supplied,
        setting=shown.pop("fig1", None) if supplied else None,
        headline=shown.pop("fig2", None),
        figures=[figure for name, figure in shown.items() if not _SUPPLEMENT.fullmatch(name)],
        supplement=[figure for name, figure in shown.items() if _SUPPLEMENT.fullmatch(name)],
        beyond=_beyond(data.beyond, beyond, [figure for name, figure in every.items() if name in BEYOND]),
        out=out,
        rem=_REM,
        narrow=_NARROW,
        taus=data.searches.sizes.get("tau_scanned"),
        environments=data.environments.names,
        performance=_performance(data),
        whiffs=_whiffs(data),
        effective=_effective(data),
        command=_command(data),
        version=whiffclock.__version__,
    )  # fmt: skip


def _beyond(data: Datasets | None, found: Sequence[Comparison], figures: Sequence[Rendered]) -> dict[str, Any]:
    """What the section beyond the paper shows; empty if there is none."""
    if data is None:
        return {}
    shown = {figure.figure: figure for figure in figures}
    told = {"headline": headline(data), "programs": programs(data), "facts": data.facts}
    return told | {"picture": shown.pop("b1", None), "figures": shown.values(), "claims": found}


def templates() -> jinja2.Environment:
    """The templates, in which everything is escaped."""
    environment = page_templates("whiffclock.paper", "page")
    environment.globals |= {"signs": SIGNS, "span": span, "example_scale": Scale(-4, 4)}
    filters = (number, percent, typeset, words, scale, label, embedded, outcomes, linked)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def percent(level: float) -> str:
    """The level of an interval."""
    return f"{100 * level:.3g}%"


def typeset(text: str) -> str:
    """Minus signs before digits."""
    return re.sub(r"(?<= )-(?=\d)", "−", text)


def words(value: Any) -> str:
    """A number, with its interval if it has one, a list of them, or numbers with their names, as text."""
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, Mapping) and value.keys() == {"value", "low", "high"}:
        return f"{number(value['value'])} {span(value['low'], value['high'])}".rstrip()
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {words(one)}" for name, one in value.items())
    return ", ".join(map(words, value)) if isinstance(value, list) else number(value)


@dataclass(frozen=True)
class Scale:
    """A linear scale from ``first`` (left) to ``last`` (right); numbers outside are drawn at its ends."""

    first: float
    last: float

    WIDTH = 240

    def at(self, x: float) -> float:
        """Position of a number."""
        inside = min(max(x, self.first), self.last)
        return round(self.WIDTH * (inside - self.first) / (self.last - self.first), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers along the scale: position and text."""
        values = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(self.first, self.last)
        inside = [0.0 if abs(x) < 1e-9 else float(x) for x in values if self.first <= x <= self.last]
        return [(self.at(x), f"{x:.3g}".replace("-", "−")) for x in inside]


def scale(parts: Mapping[str, Mapping[str, float]]) -> Scale | None:
    """One scale for all parts of a claim, with their required ranges; None without any number."""
    numbers = [part[name] for part in parts.values() for name in ("value", "low", "high", "above", "below")]
    finite = [x for x in numbers if math.isfinite(x)]
    if not finite:
        return None
    margin = 0.1 * (max(finite) - min(finite)) or 1.0
    return Scale(min(finite) - margin, max(finite) + margin)


def readings(chosen: Mapping[str, Any]) -> list[str]:
    """How the paper was read other than by default, in words: "split zero", "no bootstrap", "clock states 100"."""
    told = []
    for name, value in chosen.items():
        text = name.replace("_", " ")
        if isinstance(value, Mapping):
            told += readings(value)
        elif isinstance(value, bool):
            told.append(text if value else f"no {text}")
        else:
            told.append(f"{text} {value}")
    return told


def _groups(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Claims by outcome, in the order of their signs; outcomes that no claim has are left out."""
    found = {word: [verdict for verdict in verdicts if verdict.verdict == word] for word in SIGNS}
    return {word: group for word, group in found.items() if group}


def outcomes(count: int, word: str) -> str:
    """How many claims have an outcome: "1 holds", "4 hold"."""
    return f"{count} {word if count == 1 else _MANY.get(word, word)}"


def linked(text: str) -> markupsafe.Markup:
    """A sentence in which the names of claims are links."""
    return markupsafe.Markup(re.sub(r"\b(C\d+)\b", r'<a href="#\1">\1</a>', str(markupsafe.escape(text))))


def label(figure: str) -> str:
    """Figure 2, Figure S1."""
    return f"Figure {figure[3:] if figure.startswith('fig') else figure.upper()}"


def embedded(figure: Rendered) -> str:
    """The picture as a data URI, so that ids in different drawings cannot clash."""
    if figure.svg:  # as text, which is a quarter shorter than in base 64
        return "data:image/svg+xml," + quote(" ".join(figure.svg.split()), safe=" !$&'()*+,-./:;=?@_~")
    return f"data:image/png;base64,{base64.b64encode(figure.png.read_bytes()).decode()}"


def _performance(data: Datasets) -> dict[str, list[tuple[str, int, list[tuple[str, str]]]]]:
    """By measure: the kinds of agents, how many there are of each, and number and spread in every environment."""
    if "fig2" not in data.facts["figures"]:
        return {}
    kinds = drawn_kinds(data, "box", "line")
    return {title: [_agents(data, kind, metric) for kind in kinds] for metric, title in _METRICS.items()}


def _agents(data: Datasets, kind: str, metric: str) -> tuple[str, int, list[tuple[str, str]]]:
    """Median and quartiles over agents; mean and standard error over time strata where there is a single agent."""
    mean, strata = (where_trained(data.searches[name], kind).sel(metric=metric) for name in ("mean", "strata"))
    agents, cells = mean.dropna("agent", how="all")["agent"].values, []
    for name in data.environments:
        low, middle, high = (number(x, ".3f") for x in mean.sel(environment=name).quantile([0.25, 0.5, 0.75]).values)
        spread = f"{low}–{high}"
        if len(agents) == 1:
            found = strata.sel(environment=name, agent=agents[0]).values
            spread = f"± {found.std(ddof=1) / math.sqrt(found.size):.3f}" if found.size > 1 else ""
        cells.append((middle, spread))
    return str(data.searches["label"].sel(kind=kind).item()), len(agents), cells


def _whiffs(data: Datasets) -> dict[str, Any]:
    """Whiff probabilities, by environment."""
    if data.setting is None:
        return {}
    mask, (x0, y0) = data.setting["mask"] > 0, data.facts["source"]
    distances = [x for x in _PLACES if x0 + x < mask.sizes["x"]]
    header = ["threshold", *(f"axis, x = {x}" for x in distances), "start cells"]
    about = "Probability of a whiff on the plume’s axis, x cells from the source, and averaged over the start cells."
    if data.usage is not None:
        header.append("blank")
        about += " Last column: median over start cells of the mean blank (snapshots)."
    rows = []
    for name, threshold in data.environments.items():
        probability = data.setting["probability"].sel(environment=name)
        shares = [float(probability.sel(x=x0 + x, y=y0)) for x in distances] + [float(probability.where(mask).mean())]
        cells = [plainly(threshold), *(f"{share:.1%}" for share in shares)]
        if data.usage is not None:
            blanks = data.usage["blank"].sel(environment=name).where(mask)
            cells.append(number(float(blanks.median()), ".0f"))
        rows.append((name, cells))
    return {"about": about, "header": header, "rows": rows}


def _effective(data: Datasets) -> str:
    """Effective number of searches behind the forced blanks of the Bayesian agent, over the environments."""
    if data.branches is None:
        return ""
    found = sorted({round(effective_searches(branches_in(data, name))) for name in data.environments})
    return " to ".join(map(number, ends_of(found) if len(found) > 1 else found))


def _command(data: Datasets) -> str:
    """The command that makes this page; empty if the run has a profile that this version does not know."""
    facts, made = data.facts, figures_of(data)
    profiles = resources.files("whiffclock.paper").joinpath("profiles.toml").read_text("utf-8")
    if facts["profile"] not in tomllib.loads(profiles):  # read here: paper.profiles needs numba
        return ""
    command = f"whiffclock reproduce --profile {facts['profile']}"
    if not facts["origin"].startswith("built-in plume"):
        command += " --plume FILE"
    return command if {*made} >= {*FIGURES, *BEYOND} else f"{command} --only {','.join(made)}"
