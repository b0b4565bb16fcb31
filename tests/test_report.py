"""The report page: everything on it, nothing from elsewhere, the same bytes every time."""

import base64
import json
import re
from html.parser import HTMLParser

import pytest
from handmade import as_in_the_paper
from whiffclock.experiments.profiles import PROFILES
from whiffclock.experiments.reproduce import FIGURES

from whiffclock.paper.claims import CLAIMS
from whiffclock.paper.page.claims import number, whisker
from whiffclock.paper.page.report import write_report

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


@pytest.fixture
def made(plain_figures, tmp_path):
    def make(results=None, plume=PLUME, folder="out"):
        out = tmp_path / folder
        results = as_in_the_paper() if results is None else results
        return write_report(results, PROFILES["quick"], plume, out)

    return make


def test_every_figure_and_claim_is_on_the_page(made):
    page = Page(made().read_text())
    assert page.open == []
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {claim.id for claim in CLAIMS} | set(FIGURES) <= set(ids)
    text = " ".join(page.words)
    assert all(claim.statement in text for claim in CLAIMS)
    assert "✓ holds" in text
    assert "? not decidable" in text
    assert "This plume is synthetic: simulated by whiffclock" in text


def test_the_page_loads_nothing(made):
    path = made()
    text = path.read_text()
    page = Page(text)
    assert not {"script", "link", "iframe", "object", "embed", "base"} & {tag for tag, _ in page.elements}
    assert all(source.startswith("data:image/") for source in page.values("src"))
    assert not re.search(r"url\(|@import|srcset|\son\w+=", text)
    ids = page.values("id")
    for link in page.values("href"):
        if link.startswith("#"):
            assert link[1:] in ids
        elif not link.startswith("https://arxiv.org/"):
            assert (path.parent / link).is_file()


def test_pictures_are_inside(made):
    sources = Page(made().read_text()).values("src")
    pictures = [base64.b64decode(source.split(",", 1)[1]) for source in sources]
    for figure, picture in zip(FIGURES, pictures, strict=True):
        assert figure.encode() in picture
    assert {source.split(";")[0] for source in sources} == {"data:image/png", "data:image/svg+xml"}


def test_nothing_gets_in_unescaped(made):
    text = made().read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(&#x27;origin&#x27;)" in text
    assert "f00d&amp;" in text
    assert "About &lt;fig1&gt;" in text
    assert "Caption with &lt;b&gt; &amp; &quot;quotes&quot;" in text


def test_the_same_results_give_the_same_bytes(made):
    first, second = made(folder="one"), made(folder="two")
    assert first.read_bytes() == second.read_bytes()
    assert (first.parent / "claims.json").read_bytes() == (second.parent / "claims.json").read_bytes()


def test_a_part_of_the_figures_makes_a_page_too(made):
    results = {name: result for name, result in as_in_the_paper().items() if name == "fig3"}
    text = made(results, {**PLUME, "origin": "wind tunnel.h5"}).read_text()
    assert "whiffclock reproduce --profile quick --plume FILE --only fig3" in text
    assert "supplied by the user" in text
    claims = json.loads((made(results).parent / "claims.json").read_text())["claims"]
    decided = [claim["id"] for claim in claims if claim["verdict"] != "not decidable"]
    assert set(decided) == {"C5", "C6", "C7", "C8"}


def test_a_page_without_results(made):
    assert "18 not decidable" in made({}).read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01234, "0.012"), (-0.5, "−0.500"), (-0.0001, "−0.0001"), (0.00043, "0.0004"), (-1e-17, "0"),
     (0.0, "0"), (12.345, "12.35"), (9248, "9,248"), (float("nan"), "–"),
     (float("inf"), "∞"), (None, "–")],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_the_drawing_keeps_to_its_frame():
    part = {"value": 0.2, "low": -3.0, "high": 5.0, "above": 0.0, "below": float("inf"), "outcome": "holds"}
    drawing = whisker(part | {"wanted": "above 0"})
    places = [float(x) for x in re.findall(r'(?:x1|x2|cx|x)="([\d.-]+)"', drawing)]
    assert min(places) >= 0
    assert max(places) <= 200
    assert whisker(part | {"wanted": "above 0", "low": float("nan")}) == ""
