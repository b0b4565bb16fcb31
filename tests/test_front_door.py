"""The public interface: what ``import whiffclock as wc`` offers, its examples, and the notebooks."""

import doctest
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import whiffclock as wc
from whiffclock.agents.bayes import belief_heuristic, search_model
from whiffclock.evaluation import METRICS
from whiffclock.memory import clock
from whiffclock.paper.profiles import Profile
from whiffclock.params import LearningSettings

matplotlib.use("Agg")

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
#: Trainings in the notebooks, of which the tests do a tenth.
SHORTER = re.compile(r"(episodes=\d+)0(?=_000\b)")
FUNCTIONS = [name for name in wc.__all__ if inspect.isfunction(getattr(wc, name))]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Examples write into an empty folder, and leave no open figures."""
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


def run_doctest(thing, name):
    (test,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_in_docstrings_run(name):
    done = run_doctest(getattr(wc, name), name)
    assert done.failed == 0
    assert done.attempted >= (1 if name in ("reproduce", "fetch_plume") else 2)  # these take minutes, or a network


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_describe_parameters_and_result(name):
    function = getattr(wc, name)
    sections = inspect.getdoc(function)
    assert "Returns\n-------" in sections
    before, _, described = sections.partition("Returns\n-------")[0].partition("Parameters\n----------")
    for parameter in inspect.signature(function).parameters:
        assert parameter in described, f"{name} does not describe {parameter}"
    assert before.strip()


def test_the_first_notebook_has_at_most_fifteen_lines():
    done = run_doctest(wc, "whiffclock")
    assert done.failed == 0
    lines = [line for line in wc.__doc__.splitlines() if line.startswith((">>>", "..."))]
    assert len(lines) <= 15
    assert sum("import" in line for line in lines) == 1


def test_every_public_name_is_there_and_comes_from_its_module():
    assert sorted(wc.__all__) == sorted(wc._MODULE)
    for name in wc.__all__:
        assert getattr(wc, name) is getattr(sys.modules[f"whiffclock.{wc._MODULE[name]}"], name)
    assert {*wc.__all__, "__version__"} <= {*dir(wc)}
    with pytest.raises(AttributeError, match="no attribute 'smell'"):
        wc.smell  # noqa: B018


@pytest.mark.parametrize("first", ["whiffclock.world.loop", "whiffclock.evaluation", "whiffclock.path_metrics"])
def test_modules_do_not_hide_functions_of_the_same_name(first):
    code = f"import whiffclock as wc, {first}\nprint(wc.search.__name__, wc.evaluate.__name__, wc.geometry.__name__)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["search", "evaluate", "geometry"]


def test_the_import_takes_less_than_a_tenth_of_a_second():
    code = "import time\nbefore = time.process_time()\nimport whiffclock\nprint(time.process_time() - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.1


def test_training_shortens_the_schedules(plume):
    policy = wc.train(plume, "dense", episodes=1_000, gamma=0.99, horizon=60)
    assert policy.made_from["learning"] == LearningSettings.shortened(1_000, gamma=0.99, horizon=60).to_dict()
    assert policy.memory == clock(60)
    with pytest.raises(wc.InputError, match=r"called gama; did you mean gamma\?"):
        wc.train(plume, "dense", episodes=10, gama=0.9)


def test_an_ensemble_is_its_agents(plume):
    both = wc.train(plume, "dense", seeds=2, seed=3, tau=5, episodes=500, horizon=60)
    assert [policy.made_from["seed"] for policy in both] == [3, 4]
    assert both[1] == wc.train(plume, "dense", seed=4, tau=5, episodes=500, horizon=60)
    assert both == wc.train(plume, "dense", seeds=[3, 4], tau=5, episodes=500, horizon=60)
    with pytest.raises(wc.InputError, match="at least 1"):
        wc.train(plume, "dense", seeds=0)
    with pytest.raises(wc.InputError, match="tau is a setting of the clock"):
        wc.train(plume, "dense", memory=wc.window(2), tau=3)


def test_thresholds_have_names_and_a_policy_has_its_own(plume):
    policy = wc.train(plume, 3e-6, episodes=200, horizon=60)
    own = wc.evaluate(policy, plume, snapshots=1)
    assert own == wc.evaluate(policy, plume, "dense", snapshots=1)
    assert own != wc.evaluate(policy, plume, "denser", snapshots=1)
    assert wc.evaluate(policy, plume, 1e-6, snapshots=1).threshold == 1e-6
    cast = wc.cast_and_surge(30)
    with pytest.raises(wc.InputError, match="cast-and-surge policy has no threshold of its own"):
        wc.evaluate(cast, plume)
    with pytest.raises(wc.InputError, match="'thick'; it must be one of denser, dense, sparse, sparser"):
        wc.search(cast, plume, threshold="thick")
    with pytest.raises(wc.InputError, match="positive"):
        wc.search(cast, plume, threshold=-1)


def test_objects_show_themselves_in_one_line_compare_and_hash(plume):
    other = wc.Plume.from_array(plume.field.copy(), plume.source, "a copy")
    changed = wc.Plume.from_array(2 * plume.field, plume.source)
    cast, wider = wc.cast_and_surge(30), wc.cast_and_surge(40)
    qmdp = belief_heuristic("QMDP", search_model(plume, 1e-6))
    tests = [wc.evaluate(policy, plume, "dense", snapshots=1) for policy in (cast, cast, wider)]
    paths = [wc.search(policy, plume, (30, 22), "dense") for policy in (cast, cast, wider)]
    for one, same, different in (
        (plume, other, changed),
        (cast, wc.cast_and_surge(30), wider),
        (qmdp, qmdp, belief_heuristic("QMDP", qmdp.model)),
        tests,
        paths,
    ):
        assert one == same
        assert hash(one) == hash(same)
        assert one != different
        assert one != "something else"
        assert len({one, same, different}) == 2
        assert repr(one).startswith(type(one).__name__ + "(")
        assert "\n" not in repr(one)
        assert "array" not in repr(one)


def test_a_search_follows_the_policy(plume):
    policy = wc.train(plume, "denser", tau=4, episodes=300, horizon=60)
    found = wc.search(policy, plume, (30, 13, 150))
    table = found.to_xarray()
    assert set(table) == {"x", "y", "whiff", "clock", "mode", "action", "snapshot"}
    assert len(found.to_pandas()) == found.moves + 1
    moves = np.array([(-1, 0), (0, 1), (0, -1), (1, 0)])[found.action[:-1]]
    assert np.array_equal(np.diff(found.position, axis=0), moves)
    assert found.action[-1] == -1
    assert np.array_equal(found.snapshot, (150 + np.arange(found.moves + 1)) % 200)
    record = plume.whiffs(1e-6)
    for x, y, snapshot, whiff in zip(found.x, found.y, found.snapshot, found.whiff, strict=True):
        inside = 0 <= x < 40 and 0 <= y < 27
        assert whiff == (bool(record.series(x, y)[snapshot]) if inside else False)
    ended = np.flatnonzero(found.whiff[1:]) + 1  # the mode after a whiff is that of the blank it ended
    for step in ended[ended < found.moves]:
        assert found.mode[step] == (found.clock[step - 1] >= 4)


def test_a_start_is_a_cell_of_the_plume(plume):
    cast = wc.cast_and_surge(30)
    cells = plume.starts(3e-6, wc.WorldSettings())
    first = wc.search(cast, plume, threshold="dense", horizon=3).position[0]
    assert np.abs(first - plume.source).sum() == np.abs(cells - plume.source).sum(axis=1).max()
    for wrong in ((40, 0), (0, -1), (0, 0, 200), (3,), (1, 2, 3, 4)):
        with pytest.raises(wc.InputError, match=r"within 40 x 27 cells and 200 snapshots"):
            wc.search(cast, plume, wrong, "dense")


def test_a_comparison_has_names_of_ones_own(plume):
    agents = wc.train(plume, "dense", seeds=2, episodes=300, horizon=60)
    table = wc.compare({"two of them": agents, "cast": wc.cast_and_surge(20)}, plume, snapshots=2)
    assert [(row.agent, len(row.evaluations)) for row in table.rows] == [
        ("two of them", 2),
        ("cast", 1),
        ("cast-and-surge", 1),
    ]
    alone = wc.evaluate(agents[1], plume, snapshots=2, horizon=500)  # the longest of all
    assert table.rows[0].evaluations[1].mean("G") == alone.mean("G")
    assert list(table.to_pandas()["G"])[1] == alone.mean("G")
    assert "two of them" in repr(table)
    assert "…" not in repr(table)
    grouped = wc.compare(agents, plume, ["dense", "denser"], everywhere=True, snapshots=2)
    assert {row.environment for row in grouped.rows} == {"dense", "denser"}
    with pytest.raises(wc.InputError, match="no policy"):
        wc.compare([], plume)
    with pytest.raises(wc.InputError, match="None of the policies"):
        wc.compare([wc.cast_and_surge(20)], plume)


def test_plots_draw_into_given_axes(plume):
    cast = wc.cast_and_surge(30)
    found = wc.search(cast, plume, (30, 13), "dense")
    table = wc.compare([cast], plume, "dense", snapshots=1)
    plots = [
        lambda ax: wc.plot_plume(plume, ax=ax),
        lambda ax: wc.plot_plume(plume, 2e-6, ax=ax),
        lambda ax: wc.plot_search(found, plume, ax=ax),
        lambda ax: wc.plot_recovery_path(cast, ax=ax),
        lambda ax: wc.plot_controller(cast, ax=ax),
        *[lambda ax, metric=metric: wc.plot_compare(table, metric, ax=ax) for metric in METRICS],
    ]
    for plot in plots:
        ax = matplotlib.figure.Figure().add_subplot()
        assert plot(ax) is ax
        assert ax.has_data()
    ax = wc.plot_search(found, plume)
    path = next(line for line in ax.lines if len(line.get_xdata()) == found.moves + 1)
    assert np.array_equal(path.get_xydata(), found.position - plume.source)


def test_a_search_becomes_a_moving_picture(plume):
    from PIL import Image

    found = wc.search(wc.cast_and_surge(30), plume, (10, 13), "dense", horizon=6)
    with Image.open(wc.animate_search(found, plume, "search.gif", fps=5)) as film:
        assert film.n_frames == found.moves + 1  # the last one is held
    page = wc.animate_search(found, plume, "search.html", fps=1).read_text()
    assert page.count("data:image/png") == found.moves + 1
    with pytest.raises(wc.InputError, match=r"\.gif or \.html"):
        wc.animate_search(found, plume, "search.mp4")


def test_reproduce_writes_the_report(plume, tmp_path):
    few = {"seeds": 1, "episodes": 100, "snapshots": 1, "scan_seeds": 1, "scan_episodes": 50, "bayes_backups": 1}
    tiny = Profile(name="tiny", **few, bayes_starts=8, bayes_trials=1, taus=(2,), horizon=40)
    data = wc.reproduce("out", tiny, ["fig3"], plume)
    assert data.facts["figures"] == ["fig3"]
    assert (tmp_path / "out" / "report.html").exists()
    assert (tmp_path / "out" / "figures" / "fig3.png").exists()


PAGES = [EXAMPLES.parent / "README.md", *sorted((EXAMPLES.parent / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_a_page_links_to_exists(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    made = ("made/", "report/", "live.html")  # when the site is built
    assert [link for link in links if not (page.parent / link).exists() and not link.startswith(made)] == []


def test_there_are_four_notebooks():
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_keep_their_output(path):
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert path.stat().st_size < 300_000
    kept = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in kept)
    assert not any(output["output_type"] == "error" for output in kept)
    runner = importlib.util.spec_from_file_location("run", EXAMPLES / "run.py")
    module = importlib.util.module_from_spec(runner)
    runner.loader.exec_module(module)
    fresh = module.run_cells([SHORTER.sub(r"\1", "".join(cell["source"])) for cell in cells])
    for cell, outputs in zip(cells, fresh, strict=True):
        assert [sorted(o.get("data", o)) for o in outputs] == [sorted(o.get("data", o)) for o in cell["outputs"]]
