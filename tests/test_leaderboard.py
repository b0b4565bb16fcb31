"""The leaderboard: scores are those of an evaluation, a new agent runs alone, and the table and the data agree."""

import json
import math
import sys

import matplotlib.image
import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.drawing.leaderboard import windy_board
from whiffclock.evaluation import METRICS, evaluate
from whiffclock.netcdf import read_dataset
from whiffclock.params import EvaluationSettings, InputError
from whiffclock.plume.reading.writing import write_plume
from whiffclock.plume.toy import toy_plume
from whiffclock.progress import Bar
from whiffclock.runs.jobs import ONE_THREAD, JobFolder, JobMemory
from whiffclock.runs.leaderboard import SIZES, YOURS, Entrant, Score, Size, lines, our_entrants, scores, windy_scores
from whiffclock.runs.windy import windy_model, windy_searches
from whiffclock.terminal import Terminal

TINY = Size(episodes=60, seeds=2, backups=2, snapshots=2, sampled=4, candidates=8, windy=6, windy_backups=1)


class Drift(wc.Policy):
    bits = 1

    def act(self, memory):
        return np.where(memory, 0, 1)


def scored(entrants, places, store=None, size=TINY):
    with Bar("") as bar:
        return scores(entrants, places, size, JobMemory() if store is None else store, ONE_THREAD, bar)


def test_a_score_is_that_of_an_evaluation(plume):
    cast = wc.cast_and_surge(30)
    entrants = [Entrant("cast", cast, "dense"), Entrant("drift", Drift())]
    other = toy_plume(snapshots=150, length=40, width=27, seed=5)
    data = scored(entrants, {"here": plume, "there": other})
    for record, field in (("here", plume), ("there", other)):
        for place, at in field.environments.items():
            for i, one in enumerate(entrants):
                found = data.isel(entrant=i).sel(place=f"{record}, {place}")
                if record == "there" and one.trained not in ("", place):
                    assert np.isnan(found["mean"]).all()
                    continue
                seen = evaluate(one.policy, field, at, settings=EvaluationSettings(2, horizon=500))
                assert found["mean"].values.tolist() == [seen.mean(metric) for metric in METRICS]
                assert found["error"].values.tolist() == [seen.standard_error(metric) for metric in METRICS]
                assert found["seconds"] > 0
    assert data["bits"].values.tolist() == [9, 1]
    cast_line, drift = sorted(lines(data), key=lambda line: line.agent)
    here = data["mean"].sel(metric="G")
    assert cast_line.reward == pytest.approx(float(here.sel(place="here, dense")[0]))
    elsewhere = [float(here.sel(place=f"here, {name}")[0]) for name in plume.environments if name != "dense"]
    assert cast_line.elsewhere == pytest.approx(np.mean(elsewhere))
    assert cast_line.others == pytest.approx(float(here.sel(place="there, dense")[0]))
    assert drift.reward == pytest.approx(float(here[1, :4].mean()))
    assert np.isnan(drift.elsewhere)


def test_a_new_agent_is_tested_without_the_others(plume, tmp_path, monkeypatch):
    store, places = JobFolder(tmp_path), {"here": plume}
    first = scored([Entrant("cast", wc.cast_and_surge(30))], places, store)
    ran, compute = [], Score.compute
    monkeypatch.setattr(Score, "compute", lambda job, *rest: ran.append(job.agent) or compute(job, *rest))
    both = [Entrant("cast", wc.cast_and_surge(30)), Entrant("drift", Drift(), word="here:Drift")]
    second = scored(both, places, store)
    assert ran == ["Drift"] * len(plume.environments)
    assert second.isel(entrant=[0]).drop_vars("agent").equals(first.drop_vars("agent"))  # with the same times
    scored([Entrant("again", Drift(), word="here:Drift")], places, store)
    assert len(ran) == len(plume.environments)


def test_all_of_our_agents_take_part(plume):
    with Bar("") as bar:
        entrants = our_entrants(plume, TINY, store := JobMemory(), ONE_THREAD, bar)
        again = our_entrants(plume, TINY, store, ONE_THREAD, bar)
    assert [one.given for one in entrants] == [one.given for one in again]
    count = {}
    for one in entrants:
        count[one.agent] = count.get(one.agent, 0) + 1
    assert count == {
        "cast-and-surge": 4, "single-Q": 8, "two-Q": 8, "window-4": 8, "2Q^h": 2, "searched clock": 4,
        "searched controller": 4,
        "robust clock": 1, "QMDP": 4, "infotaxis": 4, "space-aware infotaxis": 4, "Bayesian": 4,
    }  # fmt: skip
    bits = {one.agent: one.bits for one in entrants}
    assert (bits["single-Q"], bits["two-Q"], bits["2Q^h"], bits["searched controller"]) == (9, 10, 10, 5)
    assert bits["QMDP"] > 10_000
    assert {one.trained for one in entrants} == {"", *plume.environments}


def test_a_windy_case_is_the_published_one():
    for case, emission in {"medium": 2.5, "low": 0.25}.items():
        model = windy_model(case)
        length = math.sqrt((150 / 2**2) / (1 + 150 / 4))
        for x, y in ((1, 0), (-1, 0), (15, 3), (65, -20), (-15, 20), (0, 7)):
            d = math.hypot(x, y)
            mean = emission / d * math.exp(2 * x / 2 - d / length)
            assert model.likelihood[1, 80 + x, 40 + y] == pytest.approx(1 - math.exp(-mean), rel=1e-9)
        # The source may be anywhere in 81 x 41 cells but at (65, 20), where there is a whiff at the start.
        belief = np.zeros((81, 41))
        for x, y in np.ndindex(81, 41):
            if (x, y) != (65, 20):
                belief[x, y] = model.likelihood[1, 80 + 65 - x, 40 + 20 - y]
        belief /= belief.sum()
        assert np.count_nonzero(model.initial) <= 81 * 41 - 1
        for x, y in np.ndindex(81, 41):
            if (x, y) != (65, 20):
                assert model.initial[145 - x, 60 - y] == pytest.approx(belief[x, y], rel=1e-9, abs=1e-15)


class Walk(wc.Policy):
    """Upwind on a whiff, else across the wind: it needs whiffs as bool."""

    def act(self, memory):
        return np.where(~memory, 1, 0)


def test_windy_searches_begin_on_a_whiff_and_know_when_they_leave():
    upwind = wc.TablePolicy("upwind", wc.clock(2), np.zeros(2, dtype=int))
    moves, left = windy_searches(upwind, "medium", 50)
    assert (left == (moves == 0)).all()  # who misses the source goes on upwind and leaves
    assert 0 < (moves > 0).mean() < 1
    moves, left = windy_searches(Walk(), "medium", 50)
    assert 0 < (moves > 0).mean() < 1
    assert left.any()


def test_windy_results_are_kept_and_belong_to_the_users_agents_and_ours(plume):
    entrants = [
        Entrant("walk", Walk(), word="here:Walk"),
        Entrant("cast", wc.cast_and_surge(40), "dense", YOURS),
        Entrant("other", wc.cast_and_surge(50), "dense", "17 angles"),
    ]
    store = JobMemory()
    with Bar("") as bar:
        data = windy_scores(entrants, True, plume, TINY, store, ONE_THREAD, bar)
        again = windy_scores(entrants, True, plume, TINY, store, ONE_THREAD, bar)
    assert data.identical(again)
    names = data["windy_agent"].values.tolist()
    assert names == ["QMDP", "infotaxis", "space-aware infotaxis", "Bayesian", "walk", "cast"]
    moves, left = windy_searches(wc.cast_and_surge(40), "low", TINY.windy)
    cast = data.sel(windy_agent="cast", case="low")
    assert float(cast["windy_found"]) == (moves > 0).mean()
    assert float(cast["windy_left"]) == left.mean()
    assert (data["windy_found"].sel(windy_agent="space-aware infotaxis") == 1).all()
    text = Terminal(width=80, color_system=None)
    with text.capture() as shown:
        text.print(windy_board(data))
    assert all(len(line) <= 80 for line in shown.get().splitlines())


AGENTS = "def east(clock):\n    return 'upwind' if clock < 5 else '+y'\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, plume):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.delitem(sys.modules, "mine_on_board", raising=False)
    (tmp_path / "mine_on_board.py").write_text(AGENTS)
    write_plume(plume, tmp_path / "plume.npz")
    return tmp_path


def test_the_command_writes_table_data_and_picture(folder):
    words = ("leaderboard", "mine_on_board:east", "clock-dense", "--only", "--plume", "plume.npz")
    done = whiffclock(*words, "--record", "plume.npz")
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "east" in done.stdout
    assert "searched clock" in done.stdout
    data = read_dataset(folder / "leaderboard" / "leaderboard.nc", "a leaderboard")
    assert data["agent"].values.tolist() == ["east", "searched clock"]
    assert data["trained"].values.tolist() == ["", "dense"]
    table = (folder / "leaderboard" / "leaderboard.csv").read_text().splitlines()
    assert len(table) == 1 + data["mean"].size
    assert matplotlib.image.imread(folder / "leaderboard" / "leaderboard.png").std() > 0
    facts = json.loads(whiffclock(*words, "--json").stdout)
    assert facts["suite"] == data.attrs["suite"]
    assert [one["agent"] for one in facts["agents"]] == [one.agent for one in lines(data)]


def test_an_agent_that_saw_the_second_half_is_named(folder, plume):
    learned = {
        name: wc.train(part, "dense", episodes=50) for name, part in (("whole", plume), ("half", plume.split()[0]))
    }
    for name, policy in learned.items():
        policy.save(folder / f"{name}.npz")
        done = whiffclock("leaderboard", f"{name}.npz", "--only", "--plume", "plume.npz")
        assert done.returncode == 0, done.stderr
        assert ("trained on the whole record" in done.stderr) == (name == "whole")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--only"], "--only needs a policy"),
        (["clock-dense", "--only", "--record", "missing.npy"], "missing.npy"),
        (["clock-thick", "--only"], "There is no file at clock-thick"),
        (["clock-dense", "--only", "--profile", "long"], "long"),
    ],
)
def test_bad_input_gets_one_sentence(folder, words, says):
    done = whiffclock("leaderboard", "--plume", "plume.npz", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not (folder / "leaderboard").exists()


def test_a_damaged_score_is_refused(plume, tmp_path):
    store = JobFolder(tmp_path)
    one = Entrant("cast", wc.cast_and_surge(30))
    scored([one], {"here": plume}, store)
    (path, *_) = sorted((tmp_path / "score").iterdir())
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=path.name):
        scored([one], {"here": plume}, store)


def test_the_two_further_records_are_simulated_once_and_can_be_left_out(folder, plume, monkeypatch):
    made = []

    def simulate(settings, checkpoint, progress, say):
        made.append(settings.seed)
        return toy_plume(snapshots=150, length=40, width=27, seed=settings.seed)

    monkeypatch.setattr("whiffclock.plume.simulate.record.simulate", simulate)
    monkeypatch.setattr("whiffclock.plume.builtin.builtin_plume", lambda: plume)
    monkeypatch.setitem(SIZES, "quick", TINY)
    words = ("leaderboard", "mine_on_board:east", "--only")
    done = whiffclock(*words, "--no-others")
    assert done.returncode == 0, done.stderr
    assert made == []
    assert "Windy cases" not in done.stdout
    done = whiffclock(*words)
    assert done.returncode == 0, done.stderr
    assert "2 further records are simulated first" in done.stderr
    assert "--no-others leaves them out" in done.stderr
    assert "Windy cases" in done.stdout
    data = read_dataset(folder / "leaderboard" / "leaderboard.nc", "a leaderboard")
    assert {place.partition(",")[0] for place in data["place"].values} == {"second half", "seed 1", "seed 2"}
    assert data["windy_agent"].values.tolist() == ["east"]
    again = whiffclock(*words)
    assert "simulated" not in again.stderr
    assert made == [1, 2]
