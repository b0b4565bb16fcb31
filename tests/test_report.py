"""The report page: everything on it, nothing from elsewhere, the same bytes every time."""

import base64
import json
import re
import subprocess
import sys
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote

import made_up
import numpy as np
import pytest
from handmade import FIGURES, QUICK, as_in_the_paper, with_facts
from typer.testing import CliRunner

import whiffclock as wc
from whiffclock.cli import app
from whiffclock.paper.claims import CLAIMS, judge
from whiffclock.paper.claims.verdict import SIGNS
from whiffclock.paper.dataset import BAYES, SINGLE
from whiffclock.paper.page.report import Scale, scale, templates, words, write_report
from whiffclock.params import InputError

PLUME = {
    "origin": "built-in plume, simulated by whiffclock <script>alert('origin')</script>",
    "fingerprint": "f00d&",
    "shape": [2598, 40, 9],
    "source": [0, 4],
}
VOID = {"meta", "img", "path", "circle", "rect", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Attributes of all elements, and whether elements are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def values(self, name):
        return [attrs[name] for _, attrs in self.elements if name in attrs]


def run(figures=FIGURES, **facts):
    """A run in which all claims hold, as far as its figures and its few episodes go."""
    data = as_in_the_paper()
    data = replace(data, setting=data.setting if "fig1" in figures else None)
    data = replace(data, usage=data.usage if "fig6" in figures else None)
    return with_facts(data, **QUICK | PLUME | {"figures": list(figures)} | facts)


@pytest.fixture
def made(plain_figures, tmp_path):
    def make(folder="out", verdicts=None, **facts):
        return write_report(run(**facts), tmp_path / folder, verdicts)

    return make


@pytest.fixture(scope="module")
def judged():
    data = run()
    return data, judge(data)


@pytest.fixture
def page(judged, plain_figures, tmp_path):
    data, verdicts = judged
    return write_report(data, tmp_path, verdicts)


def test_every_figure_and_claim_is_on_the_page(page):
    page = Page(page.read_text())
    assert page.open == []
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert set(CLAIMS) | set(FIGURES) <= set(ids)
    text = " ".join(page.words)
    assert all(claim.statement in text for claim in CLAIMS.values())
    assert "✓ holds" in text
    assert "? undecided" in text
    assert "not tested" not in text
    assert "This plume is synthetic: simulated by whiffclock" in text
    assert "Whiff probability" in text
    assert "Training episodes of each 250,000" in " ".join(text.split())


def test_the_page_loads_nothing(page):
    text, folder = page.read_text(), page.parent
    page = Page(text)
    assert not {"script", "link", "iframe", "object", "embed", "base"} & {tag for tag, _ in page.elements}
    assert all(source.startswith("data:image/") for source in page.values("src"))
    assert not re.search(r"url\(|@import|srcset|\son\w+=", text)
    ids = page.values("id")
    for link in page.values("href"):
        if link.startswith("#"):
            assert link[1:] in ids
        elif not link.startswith("https://arxiv.org/"):
            assert (folder / link).is_file()


def test_pictures_are_inside(page):
    sources = Page(page.read_text()).values("src")
    order = ["fig2", *(figure for figure in FIGURES if figure != "fig2")]
    for figure, source in zip(order, sources, strict=True):
        kind, content = source.split(",", 1)
        as_text = kind == "data:image/svg+xml"
        assert as_text or kind == "data:image/png;base64"
        assert figure in (unquote(content) if as_text else base64.b64decode(content).decode())
    assert {source.split(",")[0] for source in sources} == {"data:image/png;base64", "data:image/svg+xml"}


def test_nothing_gets_in_unescaped(page):
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(&#39;origin&#39;)" in text
    assert "f00d&amp;" in text
    assert "About &lt;fig1&gt;" in text
    assert "Caption with &lt;b&gt; &amp; &#34;quotes&#34;" in text


def test_the_same_results_give_the_same_bytes(made):
    first, second = made(folder="one"), made(folder="two")
    assert first.read_bytes() == second.read_bytes()
    assert (first.parent / "claims.json").read_bytes() == (second.parent / "claims.json").read_bytes()


def test_a_run_of_an_unknown_profile_has_no_command(made):
    text = made(profile="mine").read_text()
    assert "--profile" not in text
    assert "No profile" in text


def test_a_part_of_the_figures_makes_a_page_too(made):
    page = made(figures=["fig3"], origin="wind tunnel.h5")
    text = page.read_text()
    assert "whiffclock reproduce --profile quick --plume FILE --only fig3" in text
    assert "supplied by the user" in text
    assert "Whiff probability" not in text
    claims = json.loads((page.parent / "claims.json").read_text())["claims"]
    tested = [claim["id"] for claim in claims if claim["verdict"] != "not tested"]
    assert set(tested) == {"C5", "C6", "C7", "C8"}
    assert "– 14 not tested" in text
    assert "It is <em>not tested</em> if" in text


def test_a_page_without_results(made):
    assert "18 not tested" in made(figures=()).read_text()


def test_the_first_screen_says_what_was_run_and_how_the_agents_do(judged, page):
    text = page.read_text()
    denser = {"kind": SINGLE, "trained": "denser", "tested": "denser", "metric": "G"}
    typical = float(judged[0].searches["mean"].sel(denser).median())
    finding = text[text.index('<section id="finding" ') : text.index('<section id="about">')]
    said = " ".join(" ".join(Page(finding).words).split())
    assert "5 agents of each kind in each environment (the paper: 20)" in said
    assert "trained for 250,000 episodes (8.3% of the paper’s 3,000,001), on a synthetic plume, not the paper’s" in said
    assert "Claims" in Page(finding).values("aria-label")
    assert f"Mean reward G Single-Q n = 12 {typical:.3f} " in said
    assert finding.index("<table") < finding.index('id="fig2"')
    assert text.count('id="fig2"') == 1


def test_a_run_like_the_papers_on_a_users_plume_says_so(made):
    text = " ".join(made(verdicts=[], episodes=3_000_001, origin="wind tunnel.h5").read_text().split())
    assert "3,000,001 episodes (as in the paper), on a plume supplied by the user: wind tunnel.h5." in text


def test_performance_is_the_median_with_quartiles_and_a_single_agent_has_its_error(plain_figures, tmp_path):
    data = run()
    searches = data.searches.copy(deep=True)
    here = {"trained": "sparse", "tested": "sparse", "metric": "f+"}
    searches["mean"].loc[here | {"kind": SINGLE}] = np.linspace(0.1, 0.65, 12)
    searches["mean"].loc[{"kind": BAYES, "agent": slice(1, None)}] = np.nan
    strata = [0.9, 0.8] * 4
    searches["strata"].loc[here | {"kind": BAYES, "agent": 0}] = strata
    searches["mean"].loc[here | {"kind": BAYES, "agent": 0}] = 0.85
    text = write_report(replace(data, searches=searches), tmp_path, verdicts=[]).read_text()
    assert "<td>0.375 <small>0.237–0.512</small></td>" in text
    error = np.std(strata, ddof=1) / np.sqrt(8)
    assert f"<td>0.850 <small>± {error:.3f}</small></td>" in text
    assert '<th scope="row">Bayesian</th>' in text
    assert '<th scope="row">Single-Q <small>n = 12</small></th>' in text


def test_every_header_of_a_table_says_what_it_heads(page):
    headers = [attrs for tag, attrs in Page(page.read_text()).elements if tag == "th"]
    assert len(headers) > 50
    assert {attrs["scope"] for attrs in headers} == {"col", "row", "rowgroup"}


def test_a_figure_says_what_is_seen_and_can_be_enlarged_and_closed(page):
    text, page = page.read_text(), Page(page.read_text())
    alts, links = page.values("alt"), page.values("href")
    for figure in FIGURES:
        assert f'Seen in "{figure}"' in alts
        assert {f"#{figure}-large", f"#{figure}"} <= set(links)
    assert text.count("12 &lt;i&gt;") == 1  # those of Fig. 2 are in the table of performance
    assert text.index("12 &lt;i&gt;") > text.index('<section id="figures">')
    assert '<th scope="row">casts &amp; surges</th>' in text


def test_every_part_of_a_claim_has_its_own_word(judged, plain_figures, tmp_path):
    data, verdicts = judged
    shown = next(verdict for verdict in verdicts if len(verdict.details["parts"]) == 4)
    parts = {label: part | {"level": 0.95} for label, part in shown.details["parts"].items()}
    first, second, *_ = parts.values()
    first |= {"outcome": "does not hold", "level": 0.9, "why": "outside", "beside": {"share": PART}}
    second |= {"outcome": "undecided", "low": np.nan, "high": np.nan, "level": 0.9, "why": "too few <failures>"}
    changed = replace(shown, details=shown.details | {"parts": parts}, summary="holds in <two>", resampled="strata")
    text = write_report(data, tmp_path, [changed]).read_text()
    rows = text.split(f'<div id="{shown.claim.id}">')[1].split("</tbody>")[0].split('<tr class="part">')[1:]
    outcomes = ["✗ does not hold", "? undecided", "✓ holds", "✓ holds"]
    for row, label, outcome in zip(rows, parts, outcomes, strict=True):
        assert row.startswith(f'<th scope="row">{label}</th>')
        assert outcome in row
        assert row.count('class="interval"') == (outcome != "? undecided")
    assert "<small>share 0.200</small>" in rows[0]
    assert f"<li>{next(iter(parts))}: outside. Share 0.200 [−3, 5].</li>" in text
    assert "90% or 95% interval" in text
    assert "holds in &lt;two&gt;" in text
    assert "too few &lt;failures&gt;" in text
    assert "Resampled for the intervals: strata." in text


PART = {"value": 0.2, "low": -3.0, "high": 5.0, "above": 0.0, "below": float("inf"), "outcome": "holds"}


def test_every_claim_opens_once_and_stands_under_its_verdict(judged, plain_figures, monkeypatch, tmp_path):
    """Groups are in the order of the signs, whatever outcomes there are."""
    data, verdicts = judged
    monkeypatch.setitem(SIGNS, "needs full training", "…")
    words = ["holds", "needs full training", "undecided", "not tested", "does not hold"]
    verdicts = [replace(one, verdict=words[i % 5]) for i, one in enumerate(verdicts)]
    text = write_report(data, tmp_path, verdicts).read_text()
    section = text.split('<section id="claims">')[1].split("</section>")[0]
    groups = section.split('<h3 class="group ')[1:]
    assert [group.split('"')[0] for group in groups] == [word.replace(" ", "-") for word in SIGNS]
    for word, group in zip(SIGNS, groups, strict=True):
        mine = [one.claim for one in verdicts if one.verdict == word]
        many = {"holds": "hold", "does not hold": "do not hold", "needs full training": "need full training"}
        assert group.startswith(f'{word.replace(" ", "-")}">{SIGNS[word]} {len(mine)} {many.get(word, word)}</h3>')
        assert re.findall(r'<details class="line claim"><summary><b class="id">(\w+)', group) == [c.id for c in mine]
        assert re.findall(r'<div id="(\w+)">', group) == [c.id for c in mine]
        assert all(f'<span class="title">{escape(c.title)}</span>' in group for c in mine)
    assert text.count('<details class="line claim">') == len(verdicts)
    assert ".needs-full-training {" in text


def test_the_full_run_stands_beside_this_one(judged, plain_figures, tmp_path, monkeypatch):
    data, verdicts = judged
    full = {one.claim.id: replace(one, verdict="does not hold", summary="in <none>") for one in verdicts[:5]}
    different = ["12 agents instead of 100", "another <plume>"]
    monkeypatch.setattr("whiffclock.paper.page.report.verdicts_beside", lambda data: full)
    monkeypatch.setattr("whiffclock.paper.page.report.differences_of", lambda data: different)
    text = write_report(data, tmp_path, verdicts).read_text()
    lines = re.findall(r"<summary><b class=\"id\">(\w+)</b>(.*?)</summary>", text, re.DOTALL)
    assert len(lines) == 18
    for name, line in lines:
        assert line.count('class="badge ') == 1 + (name in full)
        assert ("full run ✗ does not hold" in line) == ("this run " in line) == (name in full)
    assert text.count("12 agents instead of 100, another &lt;plume&gt;.") == 2
    assert text.count("<b>Full run:</b> in &lt;none&gt;") == 5
    monkeypatch.setattr("whiffclock.paper.page.report.verdicts_beside", lambda data: {})
    monkeypatch.setattr("whiffclock.paper.page.report.differences_of", lambda data: [])
    assert "full run" not in write_report(data, tmp_path, verdicts).read_text()


def test_supplementary_figures_are_folded_and_the_papers_are_not(page):
    text = page.read_text()
    captions = re.findall(r"<figure id=\"(\w+)\">.*?<figcaption>(.*?)<", text, re.DOTALL)
    assert {name for name, caption in captions if caption} == {*FIGURES}
    for figure in FIGURES:
        title = escape(f"About <{figure}>")
        folded = re.search(rf"<summary>Figure \w+\. {title}</summary>\s*<figure id=\"{figure}\">", text)
        assert bool(folded) == figure.startswith("s")


def test_without_figures_of_the_paper_there_is_no_section_of_them(plain_figures, tmp_path):
    data = replace(made_up.datasets(figures=[]), beyond=made_up.beyond(figures=["b1"]))
    page = Page(write_report(data, tmp_path).read_text())
    assert "figures" not in page.values("id")
    assert "#figures" not in page.values("href")
    assert {"b1", "beyond"} <= {*page.values("id")}


def test_the_task_is_told_in_a_hundred_words(page):
    section = page.read_text().split('<section id="about">')[1].split("</section>")[0]
    assert 80 < len(" ".join(Page(section).words).split()) < 140


def test_other_readings_are_said_at_once(made):
    chosen = {"split_zero": True, "bootstrap": False, "world": {"start_on": "<whiff>"}, "clock_states": 100}
    finding = made(verdicts=[], readings=chosen).read_text().split('<section id="about">')[0]
    assert "not the defaults:</b> split zero, no bootstrap, start on &lt;whiff&gt;, clock states 100." in finding
    assert "not the defaults" not in made(verdicts=[]).read_text()


def test_on_a_users_plume_the_page_says_of_which_plume(made):
    text = made(figures=["fig3"], origin="wind tunnel.h5").read_text()
    assert "<b>Claimed of the paper’s plume:</b>" in text
    assert "<b>Found on this plume:</b>" in text
    assert "<b>Claimed of" not in made(figures=["fig3"]).read_text()


def test_the_drawing_keeps_to_its_frame():
    drawing = templates().get_template("templates/whisker.html").module.whisker(PART, Scale(-1, 2))
    found = [float(x) for x in re.findall(r'(?:cx|x)="([\d.-]+)"|[MH]([\d.-]+)', drawing) for x in x if x]
    assert min(found) == 0
    assert max(found) == Scale.WIDTH
    assert 'class="whisker holds"' in drawing


def test_the_drawing_is_to_scale():
    found = scale({"one": PART, "other": PART | {"value": float("nan"), "low": -4.0, "below": 6.0}})
    assert found == Scale(-5, 7)
    assert found.at(-float("inf")) == 0
    assert found.at(1) == Scale.WIDTH / 2
    assert found.at(float("inf")) == Scale.WIDTH
    assert found.ticks == [(20.0, "−4"), (60.0, "−2"), (100.0, "0"), (140.0, "2"), (180.0, "4"), (220.0, "6")]
    assert scale({}) is None


def test_numbers_beside_a_claim_are_shown_with_their_intervals():
    gap = {
        "dense": {"value": 0.5, "low": 0.25, "high": 0.75},
        "sparse": dict.fromkeys(("value", "low", "high"), np.nan),
    }
    assert words(gap | {"sparser": 0.125}) == f"dense 0.500 [0.250, 0.750], sparse {words(np.nan)}, sparser 0.125"


def test_the_report_is_drawn_again_without_plume_and_numba(tmp_path):
    made_up.datasets(figures=["fig2", "fig5"]).save(tmp_path / "data")
    code = "import sys\nfrom whiffclock.cli import app\napp(sys.argv[1:], standalone_mode=False)\n"
    code += "assert 'numba' not in sys.modules and 'whiffclock.world.episode' not in sys.modules"
    command = [sys.executable, "-c", code, "report", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "not tested" in done.stdout
    text = (tmp_path / "report.html").read_text()
    assert text.count("<figure ") == 2
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{figure}.{form}" for figure in ("fig2", "fig5") for form in ("png", "pdf")
    }
    assert len(json.loads((tmp_path / "claims.json").read_text())["claims"]) == 18


@pytest.mark.parametrize("name", ["claims.json", "report.html", "data/searches.nc", "figures/fig3.pdf", "figures"])
def test_an_output_that_is_blocked_is_found_before_the_work(name, tmp_path):
    blocked = tmp_path / "out" / name
    blocked.parent.mkdir(parents=True)
    if name == "figures":
        blocked.write_text("a file")
    else:
        blocked.mkdir()
    done = CliRunner().invoke(app, ["reproduce", "--out", str(tmp_path / "out"), "--plume", "nowhere.npz"])
    assert isinstance(done.exception, InputError)
    assert f"{blocked} cannot be written" in str(done.exception)
    with pytest.raises(InputError, match=f"{name} cannot be written"):
        wc.reproduce(tmp_path / "out")


def test_a_folder_without_data_gets_one_sentence(tmp_path):
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(done.exception).startswith(f"{tmp_path} has no folder data")
    (tmp_path / "data").mkdir()
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(done.exception) == f"There are no datasets of a run in {tmp_path / 'data'}."
    (tmp_path / "data" / "searches.nc").write_text("nothing of the kind")
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(done.exception).startswith(f"{tmp_path / 'data' / 'searches.nc'} is not a dataset of a reproduction")
    assert list(tmp_path.iterdir()) == [tmp_path / "data"]
