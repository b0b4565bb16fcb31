"""Direct search over programs: the kernel beside a plain-Python twin, the jobs, and the command."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import reference
from command import whiffclock
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lockstep import clocks, plain, plain_memory, worlds

import whiffclock as wc
from whiffclock.agents import programs
from whiffclock.agents.programs import Ground, Program, Scored, anneal, first_program, simplified
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock, controller, window
from whiffclock.params import EvaluationSettings, InputError, OptimizeSettings, WorldSettings, cut_at
from whiffclock.plume.plume import Plume, joined
from whiffclock.policy import runs
from whiffclock.runs.jobs import JobFolder, JobMemory, execute, run, threads
from whiffclock.runs.programs import Anneal, in_one_chain, program_search, search_programs
from whiffclock.runs.remote import Processes
from whiffclock.world.reward import discounted_reward
from whiffclock.world.starts import Starts, stratified_starts

QUICK = OptimizeSettings(candidates=300, rounds=3, snapshots=4, horizon=60)


class NoBar:
    def begin(self, *words):
        self.lines = []

    def enter(self, line):
        self.lines.append(line)

    def advance(self, amount):
        assert amount >= 0


def of(plume, at=("dense",), memory=None, how=QUICK, **more):
    return program_search([plume], at, how, memory or clock(how.horizon), WorldSettings(), **more)[1]


def finished(search, plume, store=None, workers=1):
    store = JobMemory() if store is None else store
    (job,) = search_programs([search], plume, store, threads(workers), NoBar())
    return run(job, plume, store)


@settings(max_examples=200)
@given(worlds(), clocks(), st.integers(0, 2**32), st.sampled_from([0.0, 2.5, np.inf]), st.integers(1, 3))
def test_scores_of_candidates_are_those_of_a_full_evaluation(made, memory, seed, z, groups):
    """Every candidate: all searches by the plain-Python reference; rejection needs the bar, or the early test."""
    plume, world = made
    rng = np.random.default_rng(seed)
    cells = plume.starts(1.0, world)
    times = rng.integers(plume.field.shape[0], size=len(cells))
    points = np.column_stack([cells, times]).astype(np.int32)
    horizon, rewards = 12, discounted_reward(np.arange(13), 12, 0.9)
    group = rng.integers(groups, size=len(points))
    group[: len(points) - len(points) // 2] = 0
    _, group = np.unique(group, return_inverse=True)
    starts = Starts(points, np.zeros(len(points), dtype=int), np.ones(len(points)))
    ground = Ground(plume.whiffs(1.0).world(world), starts, group, rewards)

    def means(actions):
        found = [
            reference.search(plain(plume, world), plain_memory(memory), actions.tolist(), tuple(point), horizon)[0]
            for point in points.tolist()
        ]
        return np.bincount(group, rewards[found]) / np.bincount(group)

    before = programs._SURE, programs._FIRST_BLOCK
    programs._SURE, programs._FIRST_BLOCK = z, 2
    try:
        program = Program(rng.integers(4, size=memory.rows).astype(np.int8), memory.next_node)
        scored = Scored(ground, memory, program)
        assert scored.level == pytest.approx(means(program.actions), abs=1e-12)
        for _ in range(6):
            actions = scored.program.actions.copy()
            actions[rng.integers(memory.rows, size=2)] = rng.integers(4)
            level, bar = scored.level.copy(), scored.objective + 0.3 * np.log(rng.random())
            taken = scored.attempt(scored.program._replace(actions=actions), bar)
            new = means(actions)
            if taken:
                assert scored.level == pytest.approx(new, abs=1e-12)
                assert new.min() >= bar - 1e-12
            else:
                assert scored.level.tolist() == level.tolist()
                same = np.array_equal(actions, scored.program.actions)
                assert same or z < np.inf or new.min() < bar + 1e-12
            assert scored.level == pytest.approx(means(scored.program.actions), abs=1e-12)
    finally:
        programs._SURE, programs._FIRST_BLOCK = before


def test_few_searches_are_repeated_and_bad_candidates_are_rejected_early(plume):
    memory = clock(60)
    scored = Scored(
        Ground.of(plume, (plume.environments["dense"],), plume.settle(), QUICK), memory, first_program(memory)
    )
    every = scored.repeated
    assert every == len(scored.ground.starts)
    late = scored.program.actions.copy()
    last = int(np.flatnonzero(scored.reached)[-1])
    late[last] = (late[last] + 1) % 4
    scored.attempt(scored.program._replace(actions=late), -np.inf)
    assert 0 < scored.repeated - every < every / 4
    before = scored.repeated
    downwind = np.full(60, 3, dtype=np.int8)
    assert not scored.attempt(scored.program._replace(actions=downwind), scored.objective)
    assert scored.repeated - before == programs._FIRST_BLOCK < every


def test_the_ground_is_the_first_part_of_the_record_and_nothing_else(plume):
    """Odor in the second half changes nothing but the start cells, which are those of the whole record."""
    field = plume.field.copy()
    cut = cut_at(0.5, len(field))
    assert cut == 100
    field[cut:] = field[cut:][::-1]  # the same cells, another order
    other = Plume.from_array(field, plume.source, environments=plume.environments)
    at = tuple(plume.environments[name] for name in ("dense", "sparse"))
    first, second = (Ground.of(one, at, one.settle(), QUICK) for one in (plume, other))
    assert np.array_equal(first.world.whiffs, second.world.whiffs)
    assert np.array_equal(first.starts.points, second.starts.points)
    assert first.world.whiffs.shape[2] == 2 * (cut + QUICK.horizon)
    assert first.starts.points[:, 2].max() < 2 * (cut + QUICK.horizon)


def test_scores_in_several_environments_are_those_of_evaluations(plume):
    """Each environment in its own half of the joined record, with a search that goes over the end of the part."""
    names, memory = ("dense", "sparse"), clock(60)
    at = tuple(plume.environments[name] for name in names)
    how = replace(QUICK, goal="worst")
    policy = wc.cast_and_surge(30, 60)
    scored = Scored(
        Ground.of(plume, at, plume.settle(), how, seed=3), memory, Program(policy.actions, memory.next_node)
    )
    half = Plume.from_array(plume.field[:100], plume.source, environments=plume.environments)
    cells = {threshold: plume.starts(threshold, plume.settle()) for threshold in at}
    for threshold, level in zip(at, scored.level, strict=True):
        same = EvaluationSettings(snapshots=4, seed=3, horizon=60)
        starts = stratified_starts(cells[threshold], half.whiffs(threshold), plume.settle(), same, 60)
        found = evaluate(policy, half, threshold, plume.settle(), same, starts)
        assert level == pytest.approx(found.mean("G"), abs=1e-12)
    assert scored.objective == scored.level.min()


def test_after_a_share_of_the_record_the_rest_is_a_record_of_its_own(plume):
    """Odor before the cut is not met; start cells are those of the whole record."""
    policy, threshold = wc.cast_and_surge(30, 60), plume.environments["dense"]
    found = wc.evaluate(policy, plume, threshold, after=0.5, snapshots=4, horizon=60)
    field = plume.field.copy()
    field[:100] = field[:100][::-1]
    other = Plume.from_array(field, plume.source, environments=plume.environments)
    again = wc.evaluate(policy, other, threshold, after=0.5, snapshots=4, horizon=60)
    assert np.array_equal(found.arrival, again.arrival)
    assert found.starts.points[:, 2].min() >= 100
    assert len(found.starts) == 4 * len(plume.starts(threshold, plume.settle()))
    whole = wc.evaluate(policy, plume, threshold, snapshots=4, horizon=60)
    assert not np.array_equal(whole.arrival, found.arrival)
    with pytest.raises(InputError, match=r"A share of 0\.999 cuts 200 snapshots at 200"):
        wc.evaluate(policy, plume, threshold, after=0.999)


def test_annealing_finds_a_better_program_and_the_test_is_on_unseen_snapshots(plume):
    policy = finished(of(plume), plume)
    found = policy.made_from["found"]["dense"]
    assert found["improvement"]["low"] > 0
    assert found["improvement"]["low"] <= found["improvement"]["mean"] <= found["improvement"]["high"]
    again = wc.evaluate(policy, plume, after=0.5, snapshots=4, seed=3)
    assert again.mean("G") == pytest.approx(found["unseen"]["G"], abs=1e-5)
    assert policy.name == "searched clock"
    assert policy.threshold == plume.environments["dense"]


def test_the_same_seed_gives_the_same_program_on_all_engines_and_after_an_interruption(plume, tmp_path):
    search, place = of(plume), tmp_path / "interrupted"
    expected = finished(search, plume)
    assert np.array_equal(finished(search, plume, workers=2).actions, expected.actions)
    assert not np.array_equal(finished(replace(search, seed=1), plume).actions, expected.actions)

    class Stop(NoBar):
        def enter(self, line):
            super().enter(line)
            if len(self.lines) == 2:
                raise KeyboardInterrupt

    best = {}
    with pytest.raises(KeyboardInterrupt):
        search_programs([search], plume, JobFolder(place), threads(1), Stop(), best)
    assert [*best] == [search.key]
    assert run(best[search.key], plume).made_from["found"]["dense"]["improvement"]["mean"] > 0
    kept = sorted((place / "annealing").iterdir())
    assert len(kept) == 2 * QUICK.chains
    store = JobFolder(place)
    assert not store.has(search)
    with Processes(2, print) as engine:
        (job,) = search_programs([search], plume, store, engine, NoBar())
    assert run(job, plume, store) == expected
    assert {*kept} < {*(place / "annealing").iterdir()}
    assert run(search, plume, JobFolder(place)).made_from == expected.made_from  # the key does not depend on the rounds


def test_one_chain_as_one_job(plume):
    search = of(plume, how=replace(QUICK, chains=1))
    whole, store = in_one_chain(search), JobMemory()
    execute([whole], plume, store)
    assert run(whole, plume, store) == finished(search, plume)
    assert isinstance(whole.best, Anneal)


def test_simplified_programs_lose_no_more_than_allowed(plume):
    memory, rng = clock(60), np.random.default_rng(0)
    ground = Ground.of(plume, (plume.environments["dense"],), plume.settle(), QUICK)
    scored = Scored(ground, memory, first_program(memory))
    anneal(scored, QUICK, 0, rng, lambda share: None)
    before, objective = len(runs(scored.program.actions)), scored.objective
    allowed = 0.5 * scored.standard_error
    program = simplified(scored, 0.5)
    again = Scored(ground, memory, program)
    assert again.objective >= objective - allowed
    assert len(runs(program.actions)) < before
    free = Scored(ground, memory, program)
    assert len(runs(simplified(free, 1e9).actions)) == 1  # whatever it costs


def test_changes_keep_the_program_whole():
    memory = clock(50, (5,))
    changes = programs.Changes(memory, np.random.default_rng(0))
    program = first_program(memory)
    seen = set()
    for _ in range(300):
        new = changes.of(program)
        assert new.actions.shape == program.actions.shape
        assert new.actions.dtype == np.int8
        assert ((new.actions >= 0) & (new.actions < 4)).all()
        assert new.next_node is program.next_node
        seen |= {*np.flatnonzero(new.actions != program.actions).tolist()}
        program = new
    assert min(seen) == 0
    assert max(seen) > 90
    changes.look(np.arange(99) < 10)  # row 0 and nine more of the first mode; of the second, row 0 alone
    for _ in range(100):
        differs = np.flatnonzero(changes.of(program).actions != program.actions)
        assert len(differs) == 0 or differs[0] < 20 or 50 <= differs[0] < 60


@pytest.mark.parametrize("memory", [clock(60, (5,)), window(3, 60), controller(5), clock(8)])
def test_all_memories_are_searched(plume, memory, tmp_path):
    policy = finished(of(plume, memory=memory), plume)
    assert policy.made_from["found"]["dense"]["improvement"]["mean"] > 0
    assert policy.memory.rows == memory.rows
    policy.save(tmp_path / "policy.npz")
    assert wc.load_policy(tmp_path / "policy.npz") == policy
    assert wc.evaluate(policy, plume, snapshots=2).horizon == 60


def test_transitions_of_a_controller_are_searched(plume):
    policy = finished(of(plume, memory=controller(5)), plume)
    assert not np.array_equal(policy.memory.next_node, controller(5).next_node)
    assert policy.name == "searched controller-5"
    begun = finished(of(plume, memory=controller(5), start=policy), plume)
    assert begun.memory.rows == 5


def test_a_robust_program_is_tested_in_every_environment(plume):
    names = [*plume.environments]
    for goal in ("mean", "worst"):
        policy = finished(of(plume, names, how=replace(QUICK, goal=goal)), plume)
        assert [*policy.made_from["found"]] == names
        assert policy.threshold is None
        assert policy.name == "searched clock, robust"


def test_several_plumes_are_one_record(plume):
    other = wc.Plume.from_array(plume.field[::-1], plume.source, environments=plume.environments)
    both, share = joined([plume, other], 0.5)
    assert (both.field.shape[0], share) == (400, 0.5)
    halves = [plume.field[:100], other.field[:100], plume.field[100:], other.field[100:]]
    assert np.array_equal(both.field, np.concatenate(halves))
    field, search = program_search([plume, other], ["dense"], replace(QUICK, goal="worst"), clock(60), WorldSettings())
    ground = Ground.of(field, search.at, search.world, search.settings)
    early, late = (ground.starts.points[ground.group == group, 2] for group in (0, 1))
    assert early.max() < 100 <= late.min() < late.max() < 200
    policy = wc.optimize([plume, other], "dense", candidates=60, snapshots=2, horizon=60, anyway=True)
    assert policy.made_from["optimize"]["plumes"] == 2
    small = wc.Plume.from_array(plume.field[:, :30], plume.source, environments=plume.environments)
    with pytest.raises(InputError, match="different grids or sources"):
        joined([plume, small], 0.5)


def test_odd_lengths_are_cut_at_the_same_place(plume):
    for snapshots in (101, 157, 199):
        one = Plume.from_array(plume.field[:snapshots], plume.source, environments=plume.environments)
        both, share = joined([one, one, one], 0.37)
        assert cut_at(share, both.field.shape[0]) == 3 * cut_at(0.37, snapshots)


def test_programs_as_runs():
    policy = wc.TablePolicy("own", clock(6), np.array([0, 0, 1, 1, 1, 3]))
    assert policy.program() == [("upwind", 2), ("+y", 3), ("downwind", 1)]
    two = wc.TablePolicy("own", clock(3, (1,)), np.array([0, 0, 1, 2, 2]))
    assert [two.program(mode) for mode in (0, 1)] == [[("upwind", 2), ("+y", 1)], [("upwind", 1), ("-y", 2)]]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"seconds": 0}, r"^seconds is 0; it must be positive"),
        ({"seconds": 5, "candidates": 5}, "not both"),
        ({"candidates": 3, "rounds": 4}, "3 candidates in 4 rounds are too few"),
        ({"hottest": 1e-5}, "it must fall"),
        ({"goal": "best"}, "The goal is 'best'; it must be mean or worst"),
        ({"train_share": 1}, "The train share is 1"),
        ({"memory": "window:60"}, "it must hold 1 to 16"),
        ({"memory": "belief"}, "There is no memory called 'belief'"),
        ({"memory": "controller:1"}, "it must have 2 to"),
        ({"tau": "auto"}, "needs it as a number"),
        ({"start": wc.cast_and_surge(30, 50)}, "has the memory .*50.* they must be the same"),
        ({"start": wc.Policy()}, "it must have a finite memory"),
        ({"train_share": 0.999}, r"A share of 0\.999 cuts 200 snapshots at 200"),
        ({"snapshots": 10**5}, "100000 start snapshots per cell were asked for"),
        ({"world": {"start_threshold": 1e9}}, "nothing reaches the threshold"),
        ({"candidats": 5}, "did you mean candidates"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(plume, wrong, sentence):
    given = {"candidates": 8, "horizon": 60, "snapshots": 2} | wrong
    if "seconds" in wrong and "candidates" not in wrong:
        del given["candidates"]
    with pytest.raises(InputError, match=sentence):
        wc.optimize(plume, "dense", **given)
    with pytest.raises(InputError, match="needs a plume and an environment"):
        wc.optimize(plume, [])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a plume and what the command finds in it."""
    folder = tmp_path_factory.mktemp("optimize")
    assert whiffclock("plume", "toy", "plume.npz", "--snapshots", "200", "--length", "40", cwd=folder).returncode == 0
    words = ["optimize", "--plume", "plume.npz", "--candidates", "200", "--horizon", "60", "--snapshots", "4"]
    done = whiffclock(*words, "-e", "dense", "-e", "sparse", cwd=folder)
    assert done.returncode == 0
    return folder, words, done


def test_the_command_writes_and_prints_programs(made):
    folder, words, done = made
    files = sorted(str(path.relative_to(folder)) for path in (folder / "programs").rglob("*seed*.npz"))
    assert files == ["programs/dense/searched-clock-seed00.npz", "programs/sparse/searched-clock-seed00.npz"]
    assert "program: upwind" in done.stdout
    assert "Next: whiffclock compare programs --after 0.5" in done.stderr
    info = whiffclock("info", files[0], cwd=folder)
    policy = wc.load_policy(folder / files[0])
    text = ", ".join(f"{action} {length}" for action, length in policy.program())
    assert text in " ".join(info.stdout.split()).replace("- y", "-y")
    again = whiffclock(*words, "-e", "dense", cwd=folder)
    assert again.returncode == 0
    refused = whiffclock(*words, "-e", "dense", "--chains", "3", cwd=folder)
    assert refused.returncode == 2
    assert "made with other settings" in refused.stderr


def test_a_policy_of_another_search_is_not_taken_for_the_result(plume):
    """Same names, rows and settings, but another tau, other environments, or another start."""
    search = of(plume, memory=clock(60, (10,)))
    policy = finished(search, plume)
    assert search.made(policy)
    assert not of(plume, memory=clock(60, (5,))).made(policy)
    assert not of(plume, ("sparse",), memory=clock(60, (10,))).made(policy)
    assert not of(plume, memory=clock(60, (10,)), start=policy).made(policy)
    assert not replace(search, seed=1).made(policy)
    both = finished(of(plume, ("dense", "sparse")), plume)
    assert of(plume, ("dense", "sparse")).made(both)
    assert not of(plume, ("denser", "dense")).made(both)


def test_a_second_plume_tests_programs(made):
    folder, words, _ = made
    whiffclock("plume", "toy", "other.npz", "--snapshots", "200", "--length", "40", "--seed", "5", cwd=folder)
    done = whiffclock(*words, "-e", "dense", "--test-plume", "other.npz", "--json", cwd=folder)
    (facts,) = json.loads(done.stdout)
    policy = wc.load_policy(folder / facts["file"])
    found = wc.evaluate(policy, wc.read_plume(folder / "other.npz"), snapshots=4)
    assert facts["test_plume"]["dense"]["G"] == pytest.approx(found.mean("G"))
    table = whiffclock(*words, "-e", "dense", "--test-plume", "other.npz", cwd=folder)
    assert f"{found.mean('G'):.3f}" in table.stdout
    same = whiffclock(*words, "-e", "dense", "--test-plume", "plume.npz", cwd=folder)
    assert same.returncode == 2
    assert "the test needs another" in same.stderr


def test_testing_where_it_was_searched_is_said(made):
    folder, _, _ = made
    file = "programs/dense/searched-clock-seed00.npz"
    said = "searched in the first 50% of this record"
    assert said in whiffclock("evaluate", file, "--plume", "plume.npz", cwd=folder).stderr
    assert said not in whiffclock("evaluate", file, "--plume", "plume.npz", "--after", "0.5", cwd=folder).stderr


def test_more_candidates_are_better_on_the_built_in_plume():
    """A few seconds of search are better than the best of twenty Q-learned agents (.728 in sparse)."""
    plume = wc.builtin_plume()
    policies = [wc.optimize(plume, "sparse", candidates=n, snapshots=2, chains=1) for n in (20, 200, 2000)]
    means = [wc.evaluate(policy, plume, after=0.5).mean("G") for policy in policies]
    assert all(a < b for a, b in pairwise(means))
    assert means[-1] > 0.74


#: Lowest G of a shipped program, of its own environment and of the robust one; f+ is .998 at least.
LOWEST = {"denser": (0.785, 0.780), "dense": (0.780, 0.778), "sparse": (0.775, 0.770), "sparser": (0.755, 0.745)}


@pytest.mark.parametrize("name", wc.shipped())
def test_programs_that_come_with_the_package_earn_what_they_say(name):
    """Their rewards on the unseen half, on the starts of their own test and on others."""
    plume, policy = wc.builtin_plume(), wc.shipped(name)
    assert policy.made_from["plume"] == plume.fingerprint
    assert len(policy.program()) <= 60
    rounds = policy.made_from["optimize"]["rounds"]
    for place, found in policy.made_from["found"].items():
        same = wc.evaluate(policy, plume, place, after=0.5, seed=rounds)
        assert same.mean("G") == pytest.approx(found["unseen"]["G"], abs=1e-5)
        assert same.mean("f+") == pytest.approx(found["unseen"]["f+"], abs=1e-5)
        assert same.mean("G") > LOWEST[place][name == "clock-robust"]
        assert same.mean("f+") > 0.998
        assert wc.evaluate(policy, plume, place, after=0.5).mean("G") == pytest.approx(found["unseen"]["G"], abs=0.005)


def test_unknown_programs_are_refused():
    with pytest.raises(InputError, match="There is no program called 'clock'; there are clock-denser"):
        wc.shipped("clock")
