"""The report: one page, its figures, and the claims, all from the datasets of a run.

The page is a single file that loads nothing; for one version of the package its bytes depend on the data alone.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np

import whiffclock
from whiffclock.archive import write_whole
from whiffclock.formatting import number, span
from whiffclock.paper.claims import Verdict, claims_json, judge
from whiffclock.paper.claims.verdict import SIGNS
from whiffclock.paper.dataset import BAYES, CAST, ENVIRONMENT_NAMES, HEURISTIC, SINGLE, TWO, Datasets, at_home
from whiffclock.params import ENVIRONMENTS

if TYPE_CHECKING:
    from whiffclock.paper.figures import Rendered

#: Width on the page of an inch of a figure: letters have one size in all figures, about that of the captions.
_REM = 8.5
_SHOWN = {SINGLE: "Single-Q", TWO: "Two-Q", HEURISTIC: "2Qʰ", CAST: "Cast-and-surge", BAYES: "Bayesian"}
#: Distances downwind of the source at which whiffs are counted.
_PLACES = (10, 30, 60, 100)


def write_report(data: Datasets, out: Path, verdicts: Sequence[Verdict] | None = None) -> Path:
    """Write ``report.html``, ``figures/`` and ``claims.json`` into ``out``; return the page's path.

    ``verdicts`` are those on the claims, if they have been judged already.
    """
    from whiffclock.paper.figures import render

    (out / "figures").mkdir(parents=True, exist_ok=True)
    verdicts = judge(data) if verdicts is None else verdicts
    figures = render(data, out / "figures")
    page = out / "report.html"
    _write(out / "claims.json", claims_json(verdicts, data))
    _write(page, report_html(data, verdicts, figures.values(), out))
    return page


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda file: file.write(text.encode()))  # type: ignore[arg-type]


def report_html(data: Datasets, verdicts: Sequence[Verdict], figures: Iterable[Rendered], out: Path) -> str:
    """The page's text; files of ``figures`` are linked relative to ``out``."""
    return templates().get_template("templates/report.html").render(
        title="Searching for an odor with a clock for a memory",
        facts=data.facts,
        verdicts=verdicts,
        tally=_tally(verdicts),
        figures=figures,
        out=out,
        rem=_REM,
        taus=data.searches.sizes.get("tau_scanned"),
        environments=ENVIRONMENT_NAMES,
        performance=_performance(data),
        whiffs=_whiffs(data),
        command=_command(data.facts),
        version=whiffclock.__version__,
    )  # fmt: skip


def templates() -> jinja2.Environment:
    """The templates, in which everything is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("whiffclock.paper", "page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"signs": SIGNS, "span": span}
    filters = (number, typeset, words, places, label, embedded)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def typeset(text: str) -> str:
    """Minus signs before digits."""
    return re.sub(r"(?<= )-(?=\d)", "−", text)


def words(value: Any) -> str:
    """A number, a list of them, or numbers with their names, as text."""
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {words(one)}" for name, one in value.items())
    return ", ".join(map(words, value)) if isinstance(value, list) else number(value)


def places(part: Mapping[str, Any]) -> dict[str, Any]:
    """Where a drawing 200 wide shows the interval of a part over its wanted range; empty without an interval."""
    marks = {name: part[name] for name in ("value", "low", "high")}
    if not all(map(math.isfinite, marks.values())):
        return {}
    ends = [end for end in (part["above"], part["below"]) if math.isfinite(end)]
    first, last = min(*marks.values(), *ends), max(*marks.values(), *ends)
    pad = 0.12 * (last - first) or 1.0

    def at(x: float) -> float:
        left, right = first - pad, last + pad
        return round(4 + 192 * (min(max(x, left), right) - left) / (right - left), 2)

    above, below = at(part["above"]), at(part["below"])
    found = {name: at(x) for name, x in marks.items()}
    return found | {"above": above, "width": round(below - above, 2), "edges": [at(end) for end in ends]}


def _tally(verdicts: Sequence[Verdict]) -> list[tuple[str, int, str]]:
    """Words with their number of claims, and the word for several; what was not tested only if there is such."""
    found = [verdict.verdict for verdict in verdicts]
    many = {"holds": "hold", "does not hold": "do not hold"}
    counts = [(word, found.count(word), many.get(word, word)) for word in SIGNS]
    return [one for one in counts if one[0] != "not tested" or one[1]]


def label(figure: str) -> str:
    """Figure 2, Figure S1."""
    return f"Figure {figure[3:] if figure.startswith('fig') else figure.upper()}"


def embedded(figure: Rendered) -> str:
    """The picture as a data URI; within an image, ids of one drawing do not meet those of another."""
    kind, content = ("svg+xml", figure.svg.encode()) if figure.svg else ("png", figure.png.read_bytes())
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _performance(data: Datasets) -> list[tuple[str, list[str]]]:
    """Return and share of arrivals of each kind of agent, by environment."""
    rows = []
    for kind, label in _SHOWN.items() if "fig2" in data.facts["figures"] else ():
        typical = at_home(data.searches["mean"], kind).median("agent")
        cells = [typical.sel(environment=name, metric=["G", "f+"]).values for name in ENVIRONMENT_NAMES]
        rows.append((label, [f"{number(g, '.2f')} · {number(arrivals, '.0%')}" for g, arrivals in cells]))
    return rows


def _whiffs(data: Datasets) -> dict[str, Any]:
    """How often it smells, by environment."""
    if data.setting is None:
        return {}
    mask, (x0, y0) = data.setting["mask"] > 0, data.facts["source"]
    distances = [x for x in _PLACES if x0 + x < mask.sizes["x"]]
    header = ["threshold", *(f"axis, x = {x}" for x in distances), "start cells"]
    about = "Probability of a whiff on the plume’s axis, x cells from the source, and averaged over the start cells."
    if data.usage is not None:
        header.append("blank")
        about += " Last, the mean blank of a start cell in snapshots, median over the cells."
    rows = []
    for name, threshold in ENVIRONMENTS.items():
        probability = data.setting["probability"].sel(environment=name)
        shares = [float(probability.sel(x=x0 + x, y=y0)) for x in distances] + [float(probability.where(mask).mean())]
        cells = [f"{threshold:g}", *(f"{share:.1%}" for share in shares)]
        if data.usage is not None:
            blanks = data.usage["blank"].sel(environment=name).where(mask)
            cells.append(number(float(blanks.median()), ".0f"))
        rows.append((name, cells))
    return {"about": about, "header": header, "rows": rows}


def _command(facts: Mapping[str, Any]) -> str:
    """The command that makes the same page."""
    from whiffclock.paper.figures import FIGURES

    command = f"whiffclock reproduce --profile {facts['profile']}"
    if not facts["origin"].startswith("built-in plume"):
        command += " --plume FILE"
    return command if set(facts["figures"]) >= set(FIGURES) else f"{command} --only {','.join(facts['figures'])}"
