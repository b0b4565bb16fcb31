"""Figures: every one can be drawn from any result of its layout, the same way every time, within its borders."""

import base64
import functools
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import made_up
import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from whiffclock.experiments.profiles import PROFILES
from whiffclock.experiments.reproduce import FIGURES as COMPUTED

from whiffclock.paper.figures import FIGURES, module, render, words
from whiffclock.paper.figures.boxes import box, never
from whiffclock.paper.figures.style import COLOURS, context
from whiffclock.paper.figures.violins import density
from whiffclock.paper.page.report import write_report
from whiffclock.paper.quantiles import weighted_quantiles
from whiffclock.params import ENVIRONMENTS

ORIGIN = "a plume, simulated for a test"
CASES = {
    "all there": {},
    "nothing there": {"branches": False, "failures": False, "returns": False, "walks": False},
}


@pytest.fixture(scope="module")
def cases():
    return {name: made_up.results(**missing) for name, missing in CASES.items()}


@pytest.fixture(scope="module")
def drawn(cases):
    """Draws a figure of a case, once."""
    return functools.cache(lambda figure, case: module(figure).draw(cases[case][figure]))


def text_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_visible())


def test_there_is_a_drawing_for_every_result_and_a_colour_for_every_environment():
    assert tuple(COMPUTED) == FIGURES
    assert tuple(COLOURS) == tuple(ENVIRONMENTS)


#: Nothing is missing from these in any case.
ALWAYS_WHOLE = {"fig1", "s1", "s3"}


@pytest.mark.parametrize(
    ("figure", "case"),
    [(f, c) for f in FIGURES for c in CASES if c == "all there" or f not in ALWAYS_WHOLE],
)
def test_figures_stay_within_their_borders_and_captions_are_filled_in(cases, drawn, figure, case):
    drawing, result, picture = module(figure), cases[case][figure], drawn(figure, case)
    with context():  # ticks made on the way take their looks from it
        left, bottom, right, top = picture.get_tightbbox().extents
    width, height = picture.get_size_inches()
    assert min(left, bottom) > -0.01
    assert right < width + 0.01
    assert top < height + 0.01
    caption = drawing.caption(result)
    assert re.search(r"\d", caption)
    assert not re.search(r"[{}\[\]]|\bnan\b|\binf\b|None", caption)
    assert drawing.TITLE
    assert caption.endswith(".")


def test_panels_without_data_say_why(cases, drawn):
    bare, full = cases["nothing there"], cases["all there"]
    for figure, words_there in (
        ("fig3", "no failures"),
        ("fig4", "no failures"),
        ("fig6", "no blank ends anywhere"),
        ("fig7", "no failures"),
        ("fig8", "no whiff"),
    ):
        assert words_there in text_of(drawn(figure, "nothing there")), figure
    assert "no whiff" in module("fig8").caption(bare["fig8"])
    assert "no whiff" not in module("fig8").caption(full["fig8"])


def test_the_origin_of_the_plume_reaches_map_and_caption(cases, tmp_path):
    rendered = render({"fig6": cases["all there"]["fig6"]}, tmp_path, ORIGIN)["fig6"]
    assert ORIGIN in rendered.caption
    assert "simulated plume" in rendered.svg  # as a comment beside the outlines of the letters
    assert rendered.svg.startswith("<svg")
    assert ORIGIN not in module("fig6").caption(cases["all there"]["fig6"])


def test_bytes_depend_on_the_result_alone(cases, tmp_path):
    some = {figure: cases["all there"][figure] for figure in ("fig5", "fig2")}
    first = render(some, tmp_path / "first")
    assert list(first) == ["fig2", "fig5"]
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True}), ThreadPoolExecutor(2) as threads:
        jobs = [threads.submit(render, {figure: some[figure]}, tmp_path / "second") for figure in some]
        second = {figure: one for job in jobs for figure, one in job.result().items()}
        assert matplotlib.rcParams["font.size"] == 20
    for figure, one in first.items():
        assert one.png.read_bytes() == second[figure].png.read_bytes()
        assert one.pdf.read_bytes() == second[figure].pdf.read_bytes()
        assert b"CreationDate" not in one.pdf.read_bytes()
        assert one.svg == second[figure].svg
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == sorted(
        f"{figure}.{form}" for figure in some for form in ("png", "pdf")
    )


def test_pictures_on_a_page_are_what_they_say(cases, tmp_path, monkeypatch):
    """A short drawing goes on the page as SVG, a long one as PNG; one column is half as wide as two."""
    some = {figure: cases["all there"][figure] for figure in ("fig2", "fig5")}
    drawn = render(some, tmp_path)
    lengths = {figure: len(one.svg) for figure, one in drawn.items()}
    monkeypatch.setattr("whiffclock.paper.figures._LONGEST_SVG", max(lengths.values()))  # the preamble makes it longer
    plume = {"origin": ORIGIN, "fingerprint": "f00d", "shape": [9, 40, 9], "source": [0, 4]}
    page = write_report(some, PROFILES["quick"], plume, tmp_path, verdicts=[]).read_text()
    kinds = {}
    for figure, (kind, picture) in zip(
        some, re.findall(r'src="data:image/([a-z+]+);base64,([^"]+)"', page), strict=True
    ):
        kinds[figure] = kind
        content = base64.b64decode(picture)
        if kind == "png":
            assert content == (tmp_path / "figures" / f"{figure}.png").read_bytes()
        else:
            assert ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
    assert kinds[max(lengths, key=lengths.get)] == "png"
    assert kinds[min(lengths, key=lengths.get)] == "svg+xml"
    narrow, wide = (float(width) for width in re.findall(r"width: min\(100%, ([\d.]+)rem", page))
    assert 0.4 < narrow / wide < 0.6


def test_densities_know_weights_and_borders():
    grid = np.linspace(0, 60, 6001)
    values, weights = np.repeat([2.0, 30.0], 50), np.repeat([1.0, 9.0], 50)
    found = density(values, weights, grid, 0.0)
    step = grid[1] - grid[0]
    assert found.sum() * step == pytest.approx(1, abs=0.01)
    assert found[grid > 16].sum() * step == pytest.approx(0.9, abs=0.02)
    assert weighted_quantiles(values, weights, 0.5) == 30


def test_boxes_show_every_agent_and_those_without_a_value():
    axes = Figure().add_subplot()
    values = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    box(axes, 0, values, "#0072B2")
    never(axes, values)
    points = [len(dots.get_offsets()) for dots in axes.collections if hasattr(dots, "get_sizes")]
    assert points == [4, 1]
    assert "never" in text_of(axes)
    assert axes.get_ylim()[1] > 4.5


def test_words():
    assert words.number(-0.001, "+.2f") == "+0.00"
    assert words.number(-1.5) == "−1.50"
    assert words.middle(np.array([1.0, np.nan, np.nan])) == np.inf
    assert words.number(words.middle(np.array([1.0, np.nan, np.nan]))) == "never"
    assert words.middle(np.array([1.0, 2.0])) == 1.5
    assert words.listing(["a", "b", "c"]) == "a, b and c"


def test_nothing_is_imported_before_it_is_drawn():
    code = "import sys, whiffclock.cli, whiffclock.paper.figures; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
