"""Jobs: data that nest, pickle, and are computed once."""

import pickle
import threading
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.memory import clock, window
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.runs import kinds
from whiffclock.runs.jobs import (
    ONE_THREAD,
    Account,
    Job,
    JobFolder,
    JobMemory,
    execute,
    missing,
    run,
    threads,
    work_in,
)
from whiffclock.runs.kinds import Branch, CastAndSurge, Evaluate, Given, HeuristicTwoQ, OneMode, Solve, Train

LEARNING = LearningSettings.shortened(60, horizon=40)


@dataclass(frozen=True)
class Sum(Job):
    """A number and the sum of another job, for tests."""

    kind = "sum"

    number: int
    rest: Job | None = None
    agent = "nobody"

    def cost(self, plume):
        return 5

    def compute(self, plume, needed, tick):
        tick(3)
        return self.number + needed.get("rest", 0)

    def pack(self, result):
        return {"sum": np.array(result)}

    def unpack(self, arrays, plume, path):
        return int(arrays["sum"])


@pytest.fixture
def store(tmp_path):
    return JobFolder(tmp_path)


def training(plume, seed=0, memory=None):
    return Train(plume.fingerprint, 3e-6, memory or clock(40), LEARNING, plume.settle(), seed)


def test_of(policy, plume):
    return Evaluate(policy, plume.fingerprint, 3e-6, plume.settle(), EvaluationSettings(2, horizon=40))


test_of.__test__ = False


def test_jobs_pickle_small_and_keep_their_keys(plume):
    heuristic = HeuristicTwoQ(training(plume), training(plume, 1), 7)
    two = training(plume, memory=clock(40, (4,)))
    for policy in (
        training(plume),
        training(plume, memory=window(3, 40)),
        heuristic,
        OneMode(two, 1),
        CastAndSurge(45, 40),
    ):
        job = test_of(policy, plume)
        again = pickle.loads(pickle.dumps(job))
        assert again == job
        assert again.key == job.key
        assert len(pickle.dumps(job)) < 20_000  # a plume is named by its fingerprint


def test_a_key_is_the_hash_of_the_whole(plume):
    job = test_of(training(plume), plume)
    others = [
        test_of(training(plume, 1), plume),
        test_of(replace(training(plume), learning=replace(LEARNING, gamma=0.9)), plume),
        test_of(replace(training(plume), learning=replace(LEARNING, horizon=41)), plume),
        test_of(training(plume, memory=clock(41)), plume),
        replace(job, settings=EvaluationSettings(3, horizon=40)),
        replace(job, settings=EvaluationSettings(2, horizon=41)),
        replace(job, sampled=30),
        replace(job, threshold=5e-6),
        replace(job, plume="0" * 16),
    ]
    assert len({job.key, *(other.key for other in others)}) == len(others) + 1


def test_a_revision_of_a_nested_job_changes_the_key(plume, monkeypatch):
    """What rests on an older revision is not taken for new."""
    nested, alone = test_of(training(plume), plume), test_of(CastAndSurge(45, 40), plume)
    before = nested.key, alone.key
    monkeypatch.setattr(Train, "revision", Train.revision + 1)
    assert test_of(training(plume), plume).key != before[0]
    assert test_of(CastAndSurge(45, 40), plume).key == before[1]


def test_a_given_policy_is_known_by_its_contents(plume, tmp_path):
    first, same, other = (
        Given.of(cast_and_surge(45, 40)),
        Given.of(cast_and_surge(45, 40)),
        Given.of(cast_and_surge(20, 40)),
    )
    assert first.key == same.key != other.key
    assert "policy" not in first.description


def test_nested_jobs_are_computed_first_and_each_once(plume, store):
    inner = Sum(1)
    jobs = [Sum(3, Sum(2, inner)), Sum(4, inner), inner, Sum(4, inner)]
    assert [job.number for job in missing(jobs, store)] == [1, 2, 4, 3]
    assert work_in(missing(jobs, store), plume) == 20
    heard, account = [], Account()
    done = execute(jobs, plume, store, threads(3), heard.append, account)
    assert len(done) == 4
    assert sum(heard) == 20  # the cost, whatever the job itself has reported
    assert account.made == {"making nobody": 4}
    assert [run(job, plume, store) for job in jobs] == [6, 5, 1, 5]
    assert execute([*jobs, Sum(9)], plume, store, ONE_THREAD, None, account) == [Sum(9)]
    assert account.found["making nobody"] == 3
    assert account.made == {"making nobody": 5}


def test_a_job_waits_for_what_another_worker_computes(plume, store, monkeypatch):
    started, order = threading.Event(), []
    compute = Sum.compute

    def slow(self, plume, needed, tick):
        if self.rest is None:
            started.wait(0.3)
        order.append(self.number)
        return compute(self, plume, needed, tick)

    monkeypatch.setattr(Sum, "compute", slow)
    execute([Sum(10 + i, Sum(1)) for i in range(4)], plume, store, threads(4))
    assert order[0] == 1
    assert sorted(order[1:]) == [10, 11, 12, 13]


def test_a_failing_job_loses_only_itself(plume, store, monkeypatch):
    compute = Sum.compute

    def failing(self, plume, needed, tick):
        if self.number == 2:
            raise ZeroDivisionError
        return compute(self, plume, needed, tick)

    monkeypatch.setattr(Sum, "compute", failing)
    with pytest.raises(ZeroDivisionError):
        execute([Sum(1), Sum(2), Sum(3)], plume, store)
    assert store.has(Sum(1))
    assert Sum(2) in missing([Sum(1), Sum(2), Sum(3)], store)


def test_more_trials_of_the_bayesian_agent_do_not_solve_again(plume, store, monkeypatch):
    from whiffclock.agents.bayes import BayesSettings
    from whiffclock.pomdp.solver import SolverSettings
    from whiffclock.recovery import BranchSettings
    from whiffclock.runs.kinds import Branch, Solve

    solver = SolverSettings(seconds=None, backups=1)
    solution = Solve(plume.fingerprint, 3e-6, plume.settle(), BayesSettings(), solver)
    few, more = (
        Branch(solution, plume.fingerprint, 3e-6, plume.settle(), BranchSettings(n, steps=20, horizon=30))
        for n in (1, 2)
    )
    solved = run(solution, plume, store)
    first = run(few, plume, store)
    monkeypatch.setattr(kinds, "solve", lambda *_, **__: pytest.fail("solved again"))
    second = run(more, plume, store)
    assert len(second) >= len(first)
    again = run(solution, plume, store)
    assert np.array_equal(again.vectors.array(), solved.vectors.array())
    assert again.made_from["lower"] == solved.made_from["lower"] <= solved.made_from["upper"]


def test_the_bayesian_agent_has_the_horizon_that_was_asked_for(plume, store):
    from whiffclock.agents.bayes import BayesSettings
    from whiffclock.pomdp.solver import SolverSettings
    from whiffclock.runs.kinds import Solve

    solution = Solve(plume.fingerprint, 1e-6, plume.settle(), BayesSettings(), SolverSettings(seconds=None, backups=1))
    job = Evaluate(solution, plume.fingerprint, 1e-6, plume.settle(), EvaluationSettings(2, horizon=20), 40)
    seen = run(job, plume, store)
    assert seen.horizon == 20
    assert seen.arrival.max() <= 20
    assert (seen.mode_steps.sum(axis=1)[~seen.arrived] == 20).all()


def test_a_failing_prerequisite_stops_those_that_wait_for_it(plume, store, monkeypatch):
    def failing(self, plume, needed, tick):
        assert self.rest is None, "computed without what it rests on"
        time.sleep(0.3)
        raise ZeroDivisionError

    monkeypatch.setattr(Sum, "compute", failing)
    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError):
        execute([Sum(10 + i, Sum(1)) for i in range(4)], plume, store, threads(4))
    assert time.perf_counter() - began < 3
    assert len(missing([Sum(10, Sum(1))], store)) == 2


def test_what_rests_on_jobs_that_are_not_kept_comes_after_their_needs(plume, store):
    first, second = training(plume), training(plume, 1)
    nested = test_of(OneMode(HeuristicTwoQ(first, second, 7), 1), plume)
    assert missing([nested, first], store) == [first, second, nested]
    execute([nested], plume, store, threads(3))
    assert missing([nested], store) == []


def test_a_kept_evaluation_has_the_horizon_it_was_made_with(plume, store):
    policy = run(training(plume), plume)
    for job in (Given.of(policy), OneMode(training(plume), 0), HeuristicTwoQ(training(plume), training(plume), 7)):
        test = Evaluate(job, plume.fingerprint, 3e-6, plume.settle(), EvaluationSettings(2))
        assert test.description["settings"]["horizon"] == 40
        fresh, kept = run(test, plume, store), run(test, plume, store)
        assert fresh.horizon == kept.horizon == 40
        assert fresh.mean("G") == kept.mean("G")
    other = replace(policy, made_from=policy.made_from | {"learning": {"horizon": 30}})
    tests = [replace(test, policy=Given.of(one), settings=EvaluationSettings(2)) for one in (policy, other)]
    assert len({test.key for test in tests}) == 2


def test_policies_on_beliefs_are_known_by_their_vectors(plume):
    from whiffclock.agents.bayes import belief_heuristic, quasi_optimal, search_model
    from whiffclock.pomdp.gridsearch import GridVectors

    model = search_model(plume, 3e-6)
    vectors = np.random.default_rng(0).random((2, model.target.size)).astype(np.float32)
    one, other = (GridVectors(model, vectors, np.array(actions)) for actions in ([0, 1], [0, 2]))
    keys = [Given.of(quasi_optimal(model, one, {"seed": seed})).key for seed in (0, 1)]
    assert keys[0] == keys[1] != Given.of(quasi_optimal(model, other)).key
    for policy in (quasi_optimal(model, one), belief_heuristic("infotaxis", model)):  # workers get it by pickle
        again = pickle.loads(pickle.dumps(Given.of(policy)))
        assert again.key == Given.of(policy).key == Given.of(again.policy).key
    cheap = [Given.of(belief_heuristic("QMDP", replace(model, discount=discount))) for discount in (0.9, 0.98)]
    assert cheap[0].digest != cheap[1].digest


def test_a_kept_evaluation_is_not_taken_to_another_plume(plume, store):
    job = test_of(CastAndSurge(45, 40), plume)
    run(job, plume, store)
    with pytest.raises(InputError, match="cannot run on the plume"):
        run(job, Plume(plume.field, (0, 12)), store)


def test_starts_are_there_even_if_nothing_can_be_shared(plume, monkeypatch):
    class Forgetful(dict):
        def __setitem__(self, key, value):
            """Another thread has made room at once."""

    monkeypatch.setattr(kinds, "_STARTS", Forgetful())
    assert len(test_of(CastAndSurge(45, 40), plume).starts(plume)) > 0


@pytest.mark.parametrize("horizon", [40, 40_000])
def test_large_numbers_survive_a_record(plume, horizon):
    job = test_of(HeuristicTwoQ(CastAndSurge(45, 40), CastAndSurge(20, 40), 7), plume)
    job = replace(job, settings=EvaluationSettings(2, horizon=horizon))
    seen = run(job, plume)
    seen.arrival[0] = seen.last_whiff[0, 2] = seen.mode_steps[0, 1] = horizon
    seen.occupancy[1, 2, 3] = 2**40
    back = job.unpack(job.pack(seen), plume, None)
    for name, values in seen.arrays().items():
        assert np.array_equal(back.arrays()[name], values), name


def every_kind(plume):
    """A job of every kind whose results are kept, on every kind of policy."""
    from whiffclock.params import BayesSettings
    from whiffclock.pomdp.settings import SolverSettings
    from whiffclock.recovery import BranchSettings

    place = plume.fingerprint, 3e-6, plume.settle()
    solve = Solve(*place, BayesSettings(), SolverSettings(seconds=None, backups=2))
    single, two = training(plume), training(plume, memory=clock(40, (4,)))
    policies = [single, two, training(plume, memory=window(3, 40)), HeuristicTwoQ(single, single, 7), OneMode(two, 1)]
    policies += [CastAndSurge(45, 40), Given.of(cast_and_surge(30, 40)), solve]
    how = EvaluationSettings(2, horizon=40)
    tests = [Evaluate(policy, *place, how, 20 if policy is solve else None) for policy in policies]
    return [single, two, solve, *tests, Branch(solve, *place, BranchSettings(2, steps=20, horizon=30))]


def test_what_comes_from_a_store_is_what_was_computed(plume, store):
    for job in every_kind(plume):
        memory = JobMemory()
        computed = run(job, plume, memory)
        store.save(job, memory.load(job))
        for kept in (run(job, plume, memory), run(job, plume, store)):
            packed, again = job.pack(computed), job.pack(kept)
            assert packed.keys() == again.keys()
            for name, values in packed.items():
                np.testing.assert_array_equal(again[name], values, f"{name} of {job}")
            assert repr(kept) == repr(computed)
            if isinstance(job, Evaluate):
                assert kept == computed
                assert kept.occupancy.sum() > 0


def test_a_new_setting_with_a_default_changes_no_key(plume):
    """These keys are those of version 0.2: a default or a name that changes needs a new revision of its job."""

    @dataclass(frozen=True)
    class LearningWithMore(LearningSettings):
        momentum: float = 0.0

    job = training(plume)
    newer = replace(job, learning=LearningWithMore(**vars(LEARNING)))
    assert newer.key == job.key
    assert replace(newer, learning=replace(newer.learning, momentum=0.5)).key != job.key
    whole = Train("0123456789abcdef", 5e-6, clock(500, (10,)), world=WorldSettings(start_threshold=7e-6))
    assert whole.description == {
        "job": "Train",
        "agent": "two-Q",
        "revision": 2,
        "plume": "0123456789abcdef",
        "threshold": 5e-6,
        "memory": {"maker": "clock", "taus": [10]},
        "world": {"start_threshold": 7e-6},
    }
    assert replace(whole, memory=clock()).description["memory"] == {"maker": "clock"}


def test_defaults_that_keys_leave_out(plume):
    """Whoever changes one of these must raise the revision of the jobs that use it."""
    from whiffclock.params import BayesSettings, OptimizeSettings
    from whiffclock.pomdp.settings import SolverSettings
    from whiffclock.recovery import BranchSettings

    learning = [3_000_001, 500, 0.998, 0.1, 1e-4, 2.5e6, 1.0, 1e-4, 2.5e6, -1.0, 0.0, True, 300, 500]
    learning += ["upwind,+y,-y,downwind", "last"]
    assert [*LearningSettings().to_dict().values()] == learning
    assert [*EvaluationSettings().to_dict().values()] == [16, 0, 0.998, None, 0.0]
    optimizing = [60.0, None, 2, 8, "mean", 0.5, 16, 3e-3, 4e-5, 0.25, 500, 0.998, 1]
    assert [*OptimizeSettings().to_dict().values()] == optimizing
    assert [*BayesSettings().to_dict().values()] == [0.98, 1e-3, "independent"]
    assert [*BranchSettings().to_dict().values()] == [100, 100, 500, 0]
    assert [*SolverSettings().to_dict().values()] == [60.0, None, None, 1e-3, 1000.0, "mixed", 0]
    assert clock().spec == {"maker": "clock", "length": 500, "taus": [], "split_zero": False, "literal_tau": False}
    assert window().spec == {"maker": "window", "n": 4, "length": 500}
