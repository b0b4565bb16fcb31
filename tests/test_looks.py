"""How figures look: an ordered ramp of colours, letters that can be read, legends beside the data, short captions."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from types import SimpleNamespace

import made_up
import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from whiffclock.drawing import style
from whiffclock.paper.collect import arrivals
from whiffclock.paper.dataset import BY_LEARNING
from whiffclock.paper.figures import BEYOND, FIGURES, drawing, picture, s4
from whiffclock.paper.figures.maps import recovery_paths
from whiffclock.params import InputError

EVERY = (*FIGURES, *BEYOND)
SYNTHETIC = "turbulence simulated by whiffclock"
MOST_WORDS = 40
#: Severe dichromacy in linear RGB (Machado, Oliveira and Fernandes 2009).
SEEN_BY = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    values = np.array(to_rgb(colour))
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(colour, eyes="all cones"):
    """CIELAB of a colour as it is seen."""
    scaled = TO_XYZ @ np.clip(SEEN_BY[eyes] @ linear(colour), 0, 1) / TO_XYZ.sum(axis=1)
    root = np.where(scaled > (6 / 29) ** 3, np.cbrt(scaled), scaled * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def contrast(colour):
    """With white, as in WCAG."""
    return 1.05 / (TO_XYZ[1] @ linear(colour) + 0.05)


def test_black_and_white_are_where_they_should_be():
    assert lab("white") == pytest.approx([100, 0, 0], abs=0.1)
    assert lab("black") == pytest.approx([0, 0, 0], abs=0.1)
    assert contrast("black") == pytest.approx(21, abs=0.01)


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_sparser_environments_are_lighter(eyes, count):
    names = tuple(style.COLOURS) if count == 4 else [f"environment {i}" for i in range(count)]
    found = [lab(colour, eyes) for colour in style.colours(names).values()]
    steps = [b[0] - a[0] for a, b in pairwise(found)]
    assert min(steps) > (4 if count == 4 else 1)
    apart = min(np.linalg.norm(a - b) for a, b in combinations(found, 2))
    assert apart > (30 if count <= 4 else 9)


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_baselines_differ_from_all_environments(eyes):
    lines = [looks["color"] for looks in (style.CAST_LINE, style.BAYES_LINE)]
    both = [lab(colour, eyes) for colour in lines]
    for colour in style.COLOURS.values():
        assert min(np.linalg.norm(lab(colour, eyes) - line) for line in both) > 20


def test_names_of_environments_can_be_read_on_white():
    assert min(contrast(style.dark(colour)) for colour in style.COLOURS.values()) > 3.9


@pytest.fixture(scope="module")
def datasets():
    """By figure: those of the paper, or those beyond it."""
    paper, beyond = made_up.datasets(origin=SYNTHETIC), made_up.beyond(origin=SYNTHETIC)
    return {figure: beyond if figure in BEYOND else paper for figure in EVERY}


@pytest.fixture(scope="module")
def pictures(datasets):
    return {figure: picture(figure, data) for figure, data in datasets.items()}


@pytest.mark.parametrize("figure", EVERY)
def test_no_letter_is_smaller_than_six_points(pictures, figure):
    assert pictures[figure].get_size_inches()[0] <= style.TWO_COLUMNS
    texts = [text for text in pictures[figure].findobj(Text) if text.get_visible() and text.get_text().strip()]
    assert len(texts) > 5
    assert {text.get_text(): text.get_fontsize() for text in texts if text.get_fontsize() < style.SMALLEST} == {}


@pytest.mark.parametrize("figure", EVERY)
def test_legends_are_not_over_data(pictures, figure):
    for axes in pictures[figure].axes:
        if axes.get_legend() is None:
            continue
        box = axes.get_legend().get_window_extent().padded(-1)
        for artist in (*axes.lines, *axes.patches, *axes.collections):
            paths = artist.get_paths() if isinstance(artist, Collection) else [artist.get_path()]
            drawn = (artist.get_transform().transform_path(path) for path in paths)
            assert not any(path.intersects_bbox(box, filled=False) for path in drawn), figure


@pytest.mark.parametrize("figure", EVERY)
def test_captions_are_short(datasets, figure):
    caption = drawing(figure).caption(datasets[figure]) + " Synthetic plume."
    table = re.search(r" Table: [^.]+\.(?= |$)", caption)
    assert table is not None
    assert len(caption.replace(table[0], "").split()) <= MOST_WORDS
    assert len(table[0].split()) <= MOST_WORDS


def test_of_many_agents_some_are_shown_from_the_best_to_the_worst():
    few = made_up.datasets()
    agents = np.arange(100) % few.searches.sizes["agent"]
    many = made_up.datasets()
    for name in ("searches", "recoveries"):
        dataset = getattr(many, name).isel(agent=agents).assign_coords(agent=np.arange(100))
        many = replace(many, **{name: dataset})
    rewards = many.searches["mean"]
    rewards.loc[{"metric": "G", "kind": "single-Q"}] = -many.searches["agent"].astype(float)
    assert "20 of 100 agents" in drawing("s4").caption(many)
    assert "5 agents" in drawing("s4").caption(few)
    for data, shown in ((few, 5), (many, 20)):
        figure = picture("s4", data)
        dots = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
        assert len(dots) == shown
        assert figure.get_size_inches()[1] < 9.2
    paths = s4.paths_shown(many, "single-Q", "Q", "dense")
    found = recovery_paths(many, "single-Q", "Q", "dense")
    for path, agent in ((paths[0], 0), (paths[-1], 99)):
        assert np.array_equal(path.trained, found[agent].trained)


def test_failed_trainings_do_not_stretch_the_axes_of_b2():
    data = made_up.beyond()
    before = picture("b2", data).axes[0].get_ylim()
    data.memories["mean"].loc[{"how": BY_LEARNING, "memory": "clock 10", "trained": "dense", "metric": "G"}] = -7.25
    after = picture("b2", data)
    assert after.axes[0].get_ylim() == pytest.approx(before)
    notes = [[text.get_text() for text in axes.texts if text.get_text()] for axes in after.axes]
    assert notes[1] == ["−7.25"]
    assert not any(notes[:1] + notes[2:])


def test_the_ends_of_fig8_are_the_tenth_and_the_ninetieth_percentile():
    data = made_up.datasets()
    data.branches["weight"][:] = 1.0
    surges = data.branches["geometry_of"].sel(geometry="surge_length")
    here = surges.values[data.branches["environment"] == "dense"]
    lines = [line for line in picture("fig8", data).axes[0].lines if np.ptp(line.get_xdata()) > 0.5]
    levels = [line.get_ydata()[0] for line in lines if line.get_xdata()[0] == pytest.approx(1 - 0.28)]
    assert levels == [np.quantile(here, q, method="inverted_cdf") for q in (0.1, 0.9)]


def test_the_scan_of_composed_agents_is_drawn_if_there_is_one():
    data = made_up.datasets()
    taus, tested = data.searches["tau_scanned"], data.searches["tested"]
    before = [len(axes.lines) for axes in picture("s3", data).axes]
    shares = np.linspace(0.9, 0.1, len(taus))[:, None] * np.ones(len(tested))
    data.searches["heuristic_share"] = ("tau_scanned", "tested"), shares
    data.searches["heuristic_mean"] = data.searches["heuristic_share"] * data.searches["mean"].isel(
        kind=0, trained=0, tested=0, agent=0, drop=True
    )
    figure = picture("s3", data)
    assert [len(axes.lines) for axes in figure.axes] == [count + len(tested) for count in before]
    assert any("2Q" in text.get_text() for text in figure.legends[0].get_texts())


def test_arrivals_by_start_cell():
    points = np.array([(0, 0, 5), (0, 0, 9), (2, 1, 5)])
    first, second = (
        SimpleNamespace(starts=SimpleNamespace(points=points), arrived=np.array(arrived))
        for arrived in ([True, True, False], [False, True, False])
    )
    found = arrivals([first, second], (3, 2))
    assert found[0, 0] == 0.75
    assert found[2, 1] == 0
    assert np.isnan(found).sum() == 4


def test_success_by_start_cell():
    data = made_up.datasets()
    shares = data.searches["arrived_from"]
    shares[:] = np.nan
    shares.loc[{"x": 3, "y": 6}] = 0.25  # the source is at y = 4
    shares.loc[{"x": 3, "y": 1}] = 0.75
    assert dict(drawing("s6").table(data).rows)["dense"] == ["50.0", "25.0", "75.0", "25.0"]
    assert "2 cells" in drawing("s6").caption(data)
    maps = [axes.images[0] for axes in picture("s6", data).axes[:4]]
    assert [np.ma.masked_invalid(image.get_array()).count() for image in maps] == [2] * 4
    old = replace(data, searches=data.searches.drop_vars("arrived_from"))
    with pytest.raises(InputError, match="no shares of arrivals by start cell; reproduce or export it again"):
        picture("s6", old)
