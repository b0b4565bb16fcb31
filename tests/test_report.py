"""The report page: everything on it, nothing from elsewhere, the same bytes every time."""

import base64
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import made_up
import pytest
from handmade import FIGURES, QUICK, as_in_the_paper, with_facts
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.paper.claims import CLAIMS, judge
from whiffclock.paper.page.report import places, templates, write_report

PLUME = {
    "origin": "built-in plume, simulated by whiffclock <script>alert('origin')</script>",
    "fingerprint": "f00d&",
    "shape": [2598, 40, 9],
    "source": [0, 4],
}
VOID = {"meta", "img", "line", "circle", "rect", "br", "link", "input", "hr"}


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
    def make(folder="out", **facts):
        return write_report(run(**facts), tmp_path / folder)

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
    assert "? not decidable" in text
    assert "not tested" not in text
    assert "This plume is synthetic: simulated by whiffclock" in text
    assert "How often it smells" in text
    assert "0.70 · 99%" in text
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
    pictures = [base64.b64decode(source.split(",", 1)[1]) for source in sources]
    for figure, picture in zip(FIGURES, pictures, strict=True):
        assert figure.encode() in picture
    assert {source.split(";")[0] for source in sources} == {"data:image/png", "data:image/svg+xml"}


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


def test_a_part_of_the_figures_makes_a_page_too(made):
    page = made(figures=["fig3"], origin="wind tunnel.h5")
    text = page.read_text()
    assert "whiffclock reproduce --profile quick --plume FILE --only fig3" in text
    assert "supplied by the user" in text
    assert "How often it smells" not in text
    claims = json.loads((page.parent / "claims.json").read_text())["claims"]
    tested = [claim["id"] for claim in claims if claim["verdict"] != "not tested"]
    assert set(tested) == {"C5", "C6", "C7", "C8"}
    assert "– 14 not tested" in text
    assert "It is <em>not tested</em> if" in text


def test_a_page_without_results(made):
    assert "18 not tested" in made(figures=()).read_text()


PART = {"value": 0.2, "low": -3.0, "high": 5.0, "above": 0.0, "below": float("inf"), "outcome": "holds"}
PART["wanted"] = "above 0"


def test_the_drawing_keeps_to_its_frame():
    whisker = templates().get_template("templates/claims.html").make_module({"verdicts": []}).whisker
    drawing = whisker(PART)
    found = [float(x) for x in re.findall(r'(?:x1|x2|cx|x)="([\d.-]+)"', drawing)]
    assert len(found) == 6
    assert min(found) >= 0
    assert max(found) <= 200
    assert 'class="whisker holds"' in drawing
    assert whisker(PART | {"low": float("nan")}).strip() == ""


def test_the_drawing_is_to_scale():
    at = places(PART | {"below": 4.0})
    assert at["low"] < at["above"] < at["value"] < at["above"] + at["width"] < at["high"]
    assert at["edges"] == [at["above"], pytest.approx(at["above"] + at["width"])]
    assert (at["value"] - at["low"]) / (at["high"] - at["low"]) == pytest.approx(3.2 / 8, abs=1e-3)


def test_the_report_is_drawn_again_without_plume_and_numba(tmp_path):
    made_up.datasets(figures=["fig2", "fig5"]).save(tmp_path / "data")
    code = "import sys\nfrom whiffclock.cli import app\napp(sys.argv[1:], standalone_mode=False)\n"
    code += "assert 'numba' not in sys.modules and 'whiffclock.episode' not in sys.modules"
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


def test_a_folder_without_data_gets_one_sentence(tmp_path):
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(done.exception).startswith(f"{tmp_path} has no folder data")
    (tmp_path / "data").mkdir()
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(done.exception) == f"There are no datasets of a run in {tmp_path / 'data'}."
    (tmp_path / "data" / "searches.nc").write_text("nothing of the kind")
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert str(done.exception).startswith(f"{tmp_path / 'data'} is not the data of a reproduction")
    assert list(tmp_path.iterdir()) == [tmp_path / "data"]
