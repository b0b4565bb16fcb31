"""Figures: every one can be drawn from any datasets of the schema, the same way every time, within its borders."""

import base64
import functools
import gc
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from html import unescape
from types import SimpleNamespace
from urllib.parse import unquote
from xml.etree import ElementTree

import made_up
import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whiffclock.drawing.boxes import box, never
from whiffclock.drawing.plane import metrics_on_path
from whiffclock.drawing.style import COLOURS, context
from whiffclock.drawing.violins import density
from whiffclock.environments import PAPER
from whiffclock.paper import figures
from whiffclock.paper.dataset import (
    BAYES,
    CAST,
    CONDITIONS,
    HEURISTIC,
    LONGER,
    MINUS_ONLY,
    PLUS_ONLY,
    SAME_PATH,
    SCAN,
    SINGLE,
    TWO,
    Datasets,
    Need,
    at_home,
    elsewhere,
    in_order,
    trained,
)
from whiffclock.paper.figures import FIGURES, captions, drawing, picture, render
from whiffclock.paper.figures.last_whiffs import LastWhiffs
from whiffclock.paper.figures.maps import recovery_paths
from whiffclock.paper.page.report import write_report
from whiffclock.params import InputError
from whiffclock.quantiles import weighted_quantiles

ORIGIN = "turbulence simulated by whiffclock for a test"
CASES = {
    "all there": {},
    "nothing there": {"branches": False, "failures": False, "returns": False, "walks": False, "split_zero": True},
}
#: What a figure may need to be computed.
COMPUTED = {
    *trained(SINGLE, TWO, SCAN, *CONDITIONS.values()),
    *at_home(SINGLE, TWO, SCAN, HEURISTIC, MINUS_ONLY, PLUS_ONLY, CAST, BAYES, LONGER, SAME_PATH),
    *elsewhere(SINGLE, TWO),
    Need(BAYES, "branched"),
}


@pytest.fixture(scope="module")
def cases():
    return {name: made_up.datasets(**missing) for name, missing in CASES.items()}


@pytest.fixture(scope="module")
def rendered(cases, tmp_path_factory):
    """Two figures with their files, and the folder of these."""
    folder = tmp_path_factory.mktemp("rendered")
    return render(cases["all there"], folder, ("fig5", "fig2")), folder


@pytest.fixture(scope="module")
def drawn(cases):
    """Draws a figure of a case, once."""
    return functools.cache(lambda figure, case: picture(figure, cases[case]))


def text_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_visible())


def test_there_is_a_drawing_for_every_result_and_a_colour_for_every_environment():
    assert tuple(FIGURES) == made_up.FIGURES
    assert {name for figure in FIGURES for name in drawing(figure).NEEDS} == COMPUTED
    assert tuple(COLOURS) == tuple(PAPER)


#: Nothing is missing from these in any case.
ALWAYS_WHOLE = {"fig1", "s1", "s3"}


@pytest.mark.parametrize(
    ("figure", "case"),
    [(f, c) for f in FIGURES for c in CASES if c == "all there" or f not in ALWAYS_WHOLE],
)
def test_figures_stay_within_their_borders_and_captions_are_filled_in(cases, drawn, figure, case):
    with context():  # ticks made on the way take their looks from it
        left, bottom, right, top = drawn(figure, case).get_tightbbox().extents
    width, height = drawn(figure, case).get_size_inches()
    assert min(left, bottom) > -0.01
    assert right < width + 0.01
    assert top < height + 0.01
    caption = drawing(figure).caption(cases[case])
    assert re.search(r"\d", caption)
    assert not re.search(r"[{}\[\]]|\bnan\b|\binf\b|None", caption)
    assert drawing(figure).TITLE
    assert caption.endswith(".")
    alt, table = drawing(figure).alt(cases[case]), drawing(figure).table(cases[case])
    assert alt.endswith(".")
    assert not re.search(r"[{}\[\]]|\bnan\b|\binf\b|None", alt)
    if table is not None:
        assert {len(cells) for _, cells in table.rows} == {len(table.header)}
        assert {name for name, _ in table.rows} >= set(PAPER) or figure == "fig4"
        assert not re.search(r"\bnan\b|\binf\b|None", str(table.rows))


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
    assert "no whiff" in drawing("fig8").caption(bare)
    assert "no whiff" not in drawing("fig8").caption(full)


def test_every_map_and_caption_says_that_the_plume_is_synthetic(cases, tmp_path):
    synthetic = made_up.datasets(origin=ORIGIN)
    rendered = render(synthetic, tmp_path, ["fig6"])["fig6"]
    assert rendered.caption.endswith(" Synthetic plume.")
    assert rendered.svg.count("<!-- synthetic -->") == 8  # comments beside the outlines of the letters
    assert rendered.svg.startswith("<svg")
    other = render(cases["all there"], tmp_path, ["fig6"])["fig6"]
    assert "ynthetic" not in other.caption + other.svg
    for figure in ("fig1", "fig6", "s6"):
        for axes in picture(figure, synthetic).axes:
            is_map = axes.images and axes.get_label() != "<colorbar>"
            assert (axes.get_title("right") == "synthetic") == bool(is_map), figure
    assert made_up.datasets(origin="toy plume (synthetic puffs, not turbulence)").synthetic
    assert not made_up.datasets(origin="a DNS, simulated elsewhere").synthetic


def test_processes_draw_the_same(cases, tmp_path, monkeypatch):
    mine = SimpleNamespace(TITLE="mine", draw=lambda data: Figure(), caption=lambda data: "")
    monkeypatch.setitem(FIGURES, "mine", mine)  # other processes do not know it
    monkeypatch.setattr(figures, "_FIGURES_PER_WORKER", 1)
    some, folder = ("mine", "fig5", "s4"), tmp_path / "one"
    alone = render(cases["all there"], folder, some)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.rename(tmp_path / "before")
    assert render(cases["all there"], folder, some, workers=2) == alone
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


def test_figures_of_a_process_that_died_are_drawn_here(cases, tmp_path, monkeypatch):
    def die(chosen, data, out, workers):
        assert workers == 2
        yield figures._render(chosen[0], data, out)
        raise BrokenProcessPool

    monkeypatch.setattr(figures, "_render_apart", die)
    monkeypatch.setattr(figures, "_FIGURES_PER_WORKER", 1)
    drawn = render(cases["all there"], tmp_path, ["fig5", "s4"], workers=5)
    assert list(drawn) == ["fig5", "s4"]
    assert all(one.png.is_file() for one in drawn.values())
    assert gc.isenabled()


def test_bytes_depend_on_the_result_alone(cases, rendered, tmp_path):
    some = ("fig5", "fig2")
    first, folder = rendered
    assert list(first) == ["fig2", "fig5"]
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True}), ThreadPoolExecutor(2) as threads:
        jobs = [threads.submit(render, cases["all there"], tmp_path / "second", [figure]) for figure in some]
        second = {figure: one for job in jobs for figure, one in job.result().items()}
        assert matplotlib.rcParams["font.size"] == 20
    for figure, one in first.items():
        assert one.png.read_bytes() == second[figure].png.read_bytes()
        assert one.pdf.read_bytes() == second[figure].pdf.read_bytes()
        assert b"CreationDate" not in one.pdf.read_bytes()
        assert one.svg == second[figure].svg
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        f"{figure}.{form}" for figure in some for form in ("png", "pdf")
    )


def test_pictures_on_a_page_are_what_they_say(rendered, tmp_path, monkeypatch):
    """A short drawing goes on the page as SVG, a long one as PNG; one column is half as wide as two."""
    some = ("fig2", "fig5")
    lengths = {figure: len(one.svg) for figure, one in rendered[0].items()}
    monkeypatch.setattr("whiffclock.paper.figures._LONGEST_SVG", max(lengths.values()))  # the preamble makes it longer
    page = write_report(made_up.datasets(figures=some), tmp_path, verdicts=[]).read_text()
    kinds = {}
    pictures = re.findall(r'src="data:image/(png;base64|svg\+xml),([^"]+)"', page)
    for figure, (kind, encoded) in zip(some, pictures, strict=True):
        kinds[figure] = kind.split(";")[0]
        if kinds[figure] == "png":
            assert base64.b64decode(encoded) == (tmp_path / "figures" / f"{figure}.png").read_bytes()
        else:
            assert ElementTree.fromstring(unquote(unescape(encoded))).tag == "{http://www.w3.org/2000/svg}svg"
    assert kinds[max(lengths, key=lengths.get)] == "png"
    assert kinds[min(lengths, key=lengths.get)] == "svg+xml"
    narrow, wide = (float(width) for width in re.findall(r'style="--width: ([\d.]+)rem"', page))
    assert 0.4 < narrow / wide < 0.6


def reversed_everywhere(data):
    """The same data in another order: every coordinate backwards, and every dimension elsewhere."""
    made = {}
    for name, dataset in data.parts.items():
        made[name] = dataset.isel({name: slice(None, None, -1) for name in dataset.indexes}).map(lambda a: a.T)
    return Datasets(**made)


def test_figures_select_by_name(cases, drawn):
    """What comes first in the data does not matter, nor do names that no figure asks for."""
    data = cases["all there"]
    other = reversed_everywhere(data)
    assert list(other.searches["metric"].values) != list(data.searches["metric"].values)
    assert other.recoveries["path"].dims == data.recoveries["path"].dims[::-1]
    for figure in made_up.FIGURES:
        ordered = in_order(other)
        assert pixels(drawn(figure, "all there")) == pixels(picture(figure, ordered)), figure
        for words_beside in ("caption", "alt", "table"):
            assert getattr(drawing(figure), words_beside)(data) == getattr(drawing(figure), words_beside)(ordered), (
                figure
            )


def pixels(drawn):
    """A figure in a low resolution."""
    with context():
        dpi, drawn.dpi = drawn.dpi, 60
        canvas = FigureCanvasAgg(drawn)
        canvas.draw()
        drawn.dpi = dpi
    return bytes(canvas.buffer_rgba())


def test_a_figure_can_be_added(tmp_path, monkeypatch):
    def draw(data):
        figure = Figure(figsize=(2, 1))
        figure.add_subplot().plot([0, data.facts["horizon"]])
        return figure

    extra = SimpleNamespace(TITLE="More", NEEDS=trained(TWO), draw=draw, caption=lambda data: "A line.")
    monkeypatch.setitem(FIGURES, "extra", extra)
    rendered = render(made_up.datasets(figures=["extra", "fig5"]), tmp_path)
    assert list(rendered) == ["fig5", "extra"]
    assert rendered["extra"].title == "More"
    assert rendered["extra"].caption == "A line."
    assert (rendered["extra"].alt, rendered["extra"].table) == ("More", None)
    assert rendered["fig5"].table.header[0] == "τ (moves)"
    assert rendered["extra"].png.read_bytes().startswith(b"\x89PNG")


def test_figures_that_are_not_known(tmp_path):
    data = made_up.datasets(figures=["extra", "fig5"])
    assert list(render(data, tmp_path)) == ["fig5"]  # drawn elsewhere with a figure that is not here
    with pytest.raises(InputError, match="no figure extra; choose from fig1, "):
        render(data, tmp_path, ["extra"])


def test_a_dataset_that_is_not_there_is_named():
    data = made_up.datasets()
    with pytest.raises(InputError, match="no dataset of usage"):
        Datasets(data.searches)["usage"]


def test_every_mode_has_a_length_of_its_own():
    data = made_up.datasets()
    data.recoveries["steps"].loc[{"ensemble": "two-Q", "mode": "Q-"}] = 7
    data.recoveries["steps"].loc[{"ensemble": "two-Q", "mode": "Q+"}] = 12
    assert [cells[1:] for _, cells in drawing("s4").table(data).rows] == [["7", "12"]] * 4
    lengths = {len(lines.get_segments()) for lines in picture("fig7", data).findobj(LineCollection)}
    assert {7, 12} <= lengths


def test_paths_are_grey_beyond_the_longest_blank():
    data = made_up.datasets()
    data.recoveries["steps"].loc[{"truncation": "longest blank"}] = 9
    data.recoveries["steps"].loc[{"truncation": "largest clock reading"}] = 30
    for path in recovery_paths(data, "single-Q", "Q", "dense").values():
        assert (len(path.trained), len(path.beyond)) == (10, 22)
        assert (path.trained[-1] == path.beyond[0]).all()
        axes = Figure().add_subplot()
        path.draw(axes, COLOURS["dense"])
        widths = {len(lines.get_segments()): lines.get_linewidth()[0] for lines in axes.findobj(LineCollection)}
        assert widths[1] < 0.6 * widths[9]  # one grey line, nine shades of the other


def test_the_return_is_measured_after_the_upwind_extreme():
    """Up 6, across 2, down 4: arrows of the upwind search and of the return have other lengths and places."""
    steps = [(-1, 0)] * 6 + [(0, 1)] * 2 + [(1, 0)] * 4
    axes = Figure().add_subplot()
    metrics_on_path(axes, np.cumsum([(0, 0), *steps], axis=0), COLOURS["dense"])
    arrows = {note.xy: note.xyann for note in axes.texts if getattr(note, "arrowprops", None) and not note.get_text()}
    spans = sorted((round(abs(a[0] - b[0])), a[1]) for a, b in arrows.items() if a[1] == b[1])
    assert [length for length, _ in spans] == [4, 6, 6]
    assert spans[0][1] > 2  # the return, above the path
    assert all(y < 0 for _, y in spans[1:])


def test_agents_count_the_same_however_often_they_fail():
    data = made_up.datasets()
    here = data.searches.sel(kind="single-Q", trained="dense", tested="dense").copy(deep=True)
    here["lost"][:], here["failures"][:] = 0, 0
    here["lost"].loc[{"agent": 0, "x": 5}] = 90
    here["lost"].loc[{"agent": 1, "x": 20}] = 3
    here["failures"][:3] = [100, 3, 7]  # the third never smells anything
    found = LastWhiffs.of(data, here)
    assert found.agents == 2
    assert found.weights[[5, 20]].tolist() == [1, 1]
    assert found.weights.sum() == 2
    assert found.count == pytest.approx(4 / (1 / 90 + 1 / 3))
    assert found.failing == pytest.approx(100 * 110 / 5 / data.facts["searches"])
    assert found.silent == pytest.approx(100 * 17 / 110)
    assert found.parts.sum() == pytest.approx(found.failing)
    assert found.parts[-1] == pytest.approx(100 * 17 / 5 / data.facts["searches"])


def test_bars_of_failures_are_all_of_them():
    """Near the source, between, far downwind, and without any whiff; the last are hatched, and nothing is left out."""
    data = made_up.datasets()
    here = data.searches.sel(kind="single-Q", trained="dense", tested="dense").copy(deep=True)
    here["lost"][:], here["failures"][:] = 0, 12
    for x, count in ((0, 1), (9, 1), (10, 3), (14, 1), (15, 2)):  # of 29 cells
        here["lost"].loc[{"x": x}] = count
    found, axes = LastWhiffs.of(data, here), Figure().add_subplot()
    assert found.parts * data.facts["searches"] / 100 == pytest.approx([2, 4, 2, 4])
    assert found.error == 0
    found.bar(axes, 0, COLOURS["dense"], 0.8)
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == pytest.approx(found.parts.tolist())
    assert sum(heights) == pytest.approx(found.failing) == pytest.approx(10)
    assert [bool(bar.get_hatch()) for bar in axes.patches] == [False, False, False, True]
    here["failures"][:] = [12, 24, 12, 12, 12]
    assert LastWhiffs.of(data, here).error == pytest.approx(2)  # a fifth of 10 per cent
    for figure, bars in (("fig3", 4), ("fig4", 32), ("fig7", 12)):
        assert sum(bool(patch.get_hatch()) for patch in picture(figure, data).findobj(Rectangle)) >= bars, figure


def test_cells_with_few_decisions_have_no_colour():
    data = made_up.datasets()
    data.usage["decisions"][:] = 20
    data.usage["decisions"].loc[{"x": 3, "y": 2}] = 4
    data.usage["decisions"].loc[{"x": 4, "y": 2}] = 0
    pairs = [axes.images for axes in picture("fig6", data).axes if len(axes.images) == 2]
    assert len(pairs) == 4
    for few, share in pairs:
        assert np.argwhere(~np.ma.getmaskarray(few.get_array())).tolist() == [[2, 3]]
        assert np.argwhere(np.ma.getmaskarray(share.get_array())).tolist() == [[2, 3], [2, 4]]


def test_effective_searches_of_the_bayesian_agent():
    data = made_up.datasets()
    data.branches["weight"][:] = 1.0
    data.branches["trial"][:] = np.tile([0] * 40 + [1] * 10, 4)
    assert "effective sample size 1.5, 1.5, 1.5 and 1.5" in drawing("fig8").caption(data)


def test_medians_are_joined_where_there_are_several_agents():
    data = made_up.datasets()
    one = replace(data, searches=data.searches.isel(replica=[0]))
    several, single = ([line for line in picture("s3", run).axes[1].lines if line.get_linestyle() == "-"]
                       for run in (data, one))  # fmt: skip
    assert len(several) == 4
    assert not single
    assert "lines join medians" in drawing("s3").caption(data)
    assert "lines" not in drawing("s3").caption(one)


def test_lines_at_a_success_rate_of_one_are_within_the_panel():
    data = made_up.datasets()
    data.searches["mean"].loc[{"kind": "cast-and-surge", "metric": "f+"}] = 1.0
    panel = picture("fig2", data).axes[2]
    assert panel.get_ylim()[1] > 1.005
    highest = max(line.get_zorder() for line in panel.lines if line.get_ydata()[0] == 1)
    assert highest > max(patch.get_zorder() for patch in panel.patches)


def test_alt_texts_follow_the_data():
    data = made_up.datasets()
    means = data.searches["mean"]
    means.loc[{"kind": "single-Q", "metric": "G"}] = 0.6
    means.loc[{"kind": "single-Q", "metric": "G", "trained": "sparser"}] = 0.3
    means.loc[{"kind": "cast-and-surge", "metric": "G"}] = 0.5
    alt = drawing("fig2").alt(data)
    assert "from 0.60 in denser to 0.30 in sparser; it is above cast-and-surge in denser, dense and sparse" in alt


def test_densities_know_weights_and_borders():
    grid = np.linspace(0, 60, 6001)
    values, weights = np.repeat([2.0, 30.0], 50), np.repeat([1.0, 9.0], 50)
    found = density(values, weights, grid, 0.0)
    step = grid[1] - grid[0]
    assert found.sum() * step == pytest.approx(1, abs=0.01)
    assert found[grid > 16].sum() * step == pytest.approx(0.9, abs=0.02)
    assert weighted_quantiles(values, weights, 0.5) == 30


def test_quantiles_of_several_sets_of_weights():
    rng = np.random.default_rng(4)
    values = np.append(rng.integers(0, 9, 20).astype(float), np.nan)
    weights = rng.integers(0, 3, (5, 4, 21)).astype(float)
    found = weighted_quantiles(values, weights, [0.0, 0.25, 0.9, 1.0])
    assert found.shape == (5, 4, 4)
    for i, j in np.ndindex(5, 4):
        np.testing.assert_array_equal(found[i, j], weighted_quantiles(values, weights[i, j], [0.0, 0.25, 0.9, 1.0]))
    weights[1, 2] = 0
    assert np.isnan(weighted_quantiles(values, weights, 0.5)[1, 2])


def test_boxes_show_every_agent_and_those_without_a_value():
    axes = Figure().add_subplot()
    values = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    box(axes, 0, values, "#0072B2")
    never(axes, values)
    points = [len(dots.get_offsets()) for dots in axes.collections if hasattr(dots, "get_sizes")]
    assert points == [4, 1]
    assert "never" in text_of(axes)
    assert axes.get_ylim()[1] > 4.5


def test_tables_tell_what_never_happens_from_what_is_not_known(cases):
    cells = dict(drawing("fig3").table(cases["nothing there"]).rows)["dense"]
    assert cells[4:] == ["never", "0.0", "–", "–"]


def test_words():
    assert captions.number(-0.001, "+.2f") == "+0.00"
    assert captions.number(-1.5) == "−1.50"
    assert captions.middle(np.array([1.0, np.nan, np.nan])) == np.inf
    assert captions.number(captions.middle(np.array([1.0, np.nan, np.nan]))) == "never"
    assert captions.middle(np.array([1.0, 2.0])) == 1.5
    assert captions.listing(["a", "b", "c"]) == "a, b and c"


def test_drawing_does_not_compile(tmp_path):
    made_up.datasets(figures=["fig5", "fig8"]).save(tmp_path)
    code = f"""
import sys
from pathlib import Path
from whiffclock.paper.dataset import Datasets
from whiffclock.paper.figures import FIGURES, drawing, render
for figure in FIGURES:
    drawing(figure).TITLE
render(Datasets.load(Path({str(tmp_path)!r})), Path({str(tmp_path)!r}))
print('numba' in sys.modules)"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_nothing_is_imported_before_it_is_drawn():
    code = "import sys, whiffclock.cli, whiffclock.paper.figures; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
