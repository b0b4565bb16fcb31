"""The report: one page, its figures, and the claims, all from saved results.

The page is a single file that loads nothing, and depends on results, profile and plume alone.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import whiffclock
from whiffclock.archive import write_whole
from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.reproduce import FIGURES
from whiffclock.experiments.results import Result
from whiffclock.paper.claims import Verdict, claims_json, judge
from whiffclock.paper.page.claims import claims_section, tally
from whiffclock.paper.page.prose import GLOSSARY, INTRODUCTION, plume_section, run_section
from whiffclock.paper.page.stylesheet import CSS

if TYPE_CHECKING:
    from whiffclock.paper.figures import Rendered

_TITLE = "Searching for an odor with a clock for a memory"
_PAPER = "https://arxiv.org/abs/2605.15938"
#: Width on the page of an inch of a figure: letters have one size in all figures, about that of the captions.
_REM = 8.5
_SECTIONS = {
    "claims": "Claims",
    "about": "The task",
    "run": "The run",
    "plume": "The plume",
    "figures": "Figures",
    "terms": "Terms",
    "provenance": "Provenance",
}


def write_report(
    results: Mapping[str, Result],
    profile: Profile,
    plume: Mapping[str, Any],
    out: Path,
    verdicts: Sequence[Verdict] | None = None,
) -> Path:
    """Write ``report.html``, ``figures/`` and ``claims.json`` into ``out``; return the page's path.

    Parameters
    ----------
    results
        By figure; a figure that was not asked for is not there.
    profile
        The numbers behind the results.
    plume
        What the results are about: origin, fingerprint, shape, source.
    verdicts
        On the claims, if they have been judged already.
    """
    from whiffclock.paper.figures import render

    (out / "figures").mkdir(parents=True, exist_ok=True)
    verdicts = judge(results, profile) if verdicts is None else verdicts
    figures = render(results, out / "figures", origin=str(plume["origin"]))
    _write(out / "claims.json", claims_json(verdicts, profile, plume))
    page = out / "report.html"
    _write(page, report_html(results, profile, plume, verdicts, figures, out))
    return page


def report_html(
    results: Mapping[str, Result],
    profile: Profile,
    plume: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    figures: Mapping[str, Rendered],
    out: Path,
) -> str:
    """The page's text; files of ``figures`` are linked relative to ``out``."""
    order = [name for name in FIGURES if name in figures]
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        f'<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_TITLE}</title><style>{CSS}</style></head>",
        "<body>",
        _top(profile, plume, verdicts),
        "<main>",
        claims_section(verdicts),
        INTRODUCTION,
        run_section(results, profile),
        plume_section(results, plume),
        '<section id="figures"><h2>Figures</h2>',
        *(_figure(figures[name], out) for name in order),
        "</section>",
        GLOSSARY,
        _provenance(results, profile, plume),
        "</main>",
        f"<footer>Made by whiffclock {escape(whiffclock.__version__)}.</footer>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _top(profile: Profile, plume: Mapping[str, Any], verdicts: Sequence[Verdict]) -> str:
    nav = " ".join(f'<a href="#{anchor}">{label}</a>' for anchor, label in _SECTIONS.items())
    return f"""<header class="top">
<p class="kicker">Reproduction report · profile {escape(profile.name)}</p>
<h1>{_TITLE}</h1>
<p class="lead">Can an agent find the source of a turbulent odor plume if all it remembers is the time since its last
whiff? A paper says: nearly as well as one that remembers everything. This report trains the agents anew, draws the
paper’s figures, and judges its {len(verdicts)} claims on one plume: {escape(str(plume["origin"]))}.</p>
{tally(verdicts)}
<nav>{nav}</nav>
</header>"""


def _figure(rendered: Rendered, out: Path) -> str:
    label, width = _label(rendered.figure), _REM * rendered.width
    files = " · ".join(
        f'<a href="{escape(path.relative_to(out).as_posix())}">{kind}</a>'
        for kind, path in (("PNG", rendered.png), ("PDF", rendered.pdf))
    )
    return f"""<figure id="{escape(rendered.figure)}">
<h3>{label}. {escape(rendered.title)}</h3>
<img style="width: min(100%, {width:g}rem)" src="{_embedded(rendered)}" alt="{label}: {escape(rendered.title)}">
<figcaption>{escape(rendered.caption)} <span class="files">{files}</span></figcaption>
</figure>"""


def _embedded(rendered: Rendered) -> str:
    """The picture as a data URI. Within an image, ids of one drawing do not meet those of another."""
    if rendered.svg:
        return "data:image/svg+xml;base64," + base64.b64encode(rendered.svg.encode()).decode()
    return "data:image/png;base64," + base64.b64encode(rendered.png.read_bytes()).decode()


def _label(figure: str) -> str:
    return f"Figure {figure[3:]}" if figure.startswith("fig") else f"Figure {figure.upper()}"


def _provenance(results: Mapping[str, Result], profile: Profile, plume: Mapping[str, Any]) -> str:
    origin = str(plume["origin"])
    command = f"whiffclock reproduce --profile {profile.name}"
    if not origin.startswith("built-in plume"):
        command += " --plume FILE"
    if set(results) != set(FIGURES):
        command += " --only " + ",".join(name for name in FIGURES if name in results)
    return f"""<section id="provenance">
<h2>Provenance</h2>
<p>The paper is <a href="{_PAPER}">arXiv 2605.15938</a>: M. Rando, R. A. Heinonen, Y. Qi, A. Seminara, <cite>Clock-state
olfactory search in turbulent flows using Q-learning: the geometry of plume recovery</cite>. Everything on this page
follows from the plume (fingerprint <code>{escape(str(plume["fingerprint"]))}</code>), the profile and the package
(whiffclock {escape(whiffclock.__version__)}); seeds are fixed, and the same command makes the same page:</p>
<pre>{escape(command)}</pre>
<p>All numbers of the claims are in <a href="claims.json">claims.json</a> beside this page.</p>
</section>"""


def _write(path: Path, text: str) -> None:
    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    write_whole(path, write)
