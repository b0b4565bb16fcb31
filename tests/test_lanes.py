"""Agents that learn in lanes are those that learn alone, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lockstep import clocks, worlds

from whiffclock.agents import together
from whiffclock.agents.qlearning import Task, train
from whiffclock.agents.together import faster_together, fit_lanes, train_together
from whiffclock.memory import clock, window
from whiffclock.params import LearningSettings, WorldSettings
from whiffclock.plume.standin import standin_plume
from whiffclock.runs import kinds
from whiffclock.runs.jobs import JobStore, execute, teams, threads
from whiffclock.runs.kinds import Train
from whiffclock.runs.store import Store

LEARNING = LearningSettings.shortened(60, horizon=40, record_last=20)


def assert_same(policies, others):
    for policy, other in zip(policies, others, strict=True):
        assert policy.made_from == other.made_from
        assert np.array_equal(policy.q, other.q)
        assert policy.records.keys() == other.records.keys()
        for name, values in other.records.items():
            assert np.array_equal(policy.records[name], values), name


@settings(max_examples=60, deadline=None)
@given(worlds(), st.lists(clocks(), min_size=1, max_size=3), st.integers(1, 40), st.data())
def test_lanes_learn_what_agents_learn_alone(made, memories, agents, data):
    plume, world = made
    memories = [memory for memory in memories if memory.modes <= 2] or [clock(5)]
    horizon, recorded = data.draw(st.integers(1, 70)), data.draw(st.integers(1, 12))
    epsilon, seed = data.draw(st.sampled_from([0.3, 1.0])), data.draw(st.integers(0, 2**32))
    learning = LearningSettings.shortened(12, horizon=horizon, epsilon_start=epsilon, record_last=recorded)
    tasks = [
        Task(plume, 1.0, memories[i % len(memories)], replace(learning, curve_points=4), world, seed + i)
        for i in range(agents)
    ]
    assert fit_lanes(tasks)
    assert_same(train_together(tasks), map(train, tasks))


@pytest.mark.parametrize("part", [1, 2000, 10**9])
def test_parts_change_nothing_and_are_reported(part, monkeypatch):
    monkeypatch.setattr(together, "PART", part)
    plume, heard = standin_plume(60, 20, 9), []
    tasks = [Task(plume, 1e-6, clock(40, (3,) * (i % 2)), LEARNING, seed=i) for i in range(19)]
    assert_same(train_together(tasks, heard.append), map(train, tasks))
    assert sum(heard) == 19 * LEARNING.episodes


@pytest.mark.parametrize(
    "change",
    [
        {"memory": clock(40, (2, 5))},
        {"learning": replace(LEARNING, bootstrap_at_horizon=False)},
        {"learning": replace(LEARNING, horizon=20_000, episodes=2)},
        {"memory": clock(20_000), "learning": replace(LEARNING, episodes=3)},
    ],
    ids=["three modes", "a cut", "a long search", "many nodes"],
)
def test_what_does_not_fit_into_lanes_is_trained_alone(change, monkeypatch):
    monkeypatch.setattr(together, "_advance_in_lanes", None)
    task = Task(standin_plume(60, 20, 9), 1e-6, clock(40), LEARNING, WorldSettings(start_on_whiff=True))
    tasks = [replace(task, seed=seed, **change) for seed in range(4)]
    assert not fit_lanes(tasks)
    assert_same(train_together(tasks), map(train, tasks))


def test_without_vectors_agents_are_trained_alone(monkeypatch):
    monkeypatch.setattr(together, "VECTORS", False)
    monkeypatch.setattr(together, "_advance_in_lanes", None)
    tasks = [Task(standin_plume(60, 20, 9), 1e-6, clock(40), LEARNING, seed=seed) for seed in range(2)]
    assert_same(train_together(tasks), map(train, tasks))
    assert not faster_together(16, 10**6)


def test_other_memories_than_clocks():
    plume = standin_plume(60, 20, 40)
    tasks = [Task(plume, 1e-6, window(1 + seed % 3), LEARNING, seed=seed) for seed in range(6)]
    assert fit_lanes(tasks)
    assert_same(train_together(tasks), map(train, tasks))


def test_lanes_are_for_large_ensembles_on_processors_that_have_them(monkeypatch):
    monkeypatch.setattr(together, "compiled_for", lambda feature: True)
    assert faster_together(16, 10**6)
    assert not faster_together(8, 10**6)
    assert not faster_together(16, 1000)
    monkeypatch.setattr(together, "compiled_for", lambda feature: False)
    assert not faster_together(16, 10**6)


def jobs_of(plume, seeds, threshold=1e-6):
    return [Train(plume.fingerprint, threshold, clock(40), LEARNING, seed=seed) for seed in range(seeds)]


@pytest.mark.parametrize("lanes", [True, False])
def test_jobs_give_the_same_results_with_lanes_and_without(lanes, monkeypatch, tmp_path):
    monkeypatch.setattr(kinds, "faster_together", lambda agents, episodes: lanes and agents > 2)
    if not lanes:
        monkeypatch.setattr(kinds, "train_together", None)
    plume, store, heard = standin_plume(60, 20, 9), JobStore(Store(tmp_path)), []
    jobs = [*jobs_of(plume, 5), *jobs_of(plume, 2, 2e-6), *jobs_of(plume, 4, 3e-6)]
    assert len(execute(jobs, plume, store, threads(2), heard.append)) == len(jobs)
    assert sum(heard) == len(jobs) * LEARNING.episodes
    assert_same((store.load(job, plume) for job in jobs), (train(job._task(plume)) for job in jobs))


def test_teams_keep_all_workers_busy(monkeypatch):
    monkeypatch.setattr(kinds, "faster_together", lambda agents, episodes: agents > 2)
    plume = standin_plume(60, 20, 9)
    jobs = [*jobs_of(plume, 5), *jobs_of(plume, 2, 2e-6), *jobs_of(plume, 4, 3e-6), *jobs_of(plume, 3, 4e-6)]
    sizes = {workers: [len(team) for team in teams(jobs, workers)] for workers in (1, 2, 3, 4)}
    assert sizes == {1: [5, 1, 1, 4, 3], 2: [5, 1, 1, 4, 1, 1, 1], 3: [5, 1, 1, 4, 3], 4: [1] * 14}
    assert [len(team) for team in teams(jobs_of(plume, 6), 2)] == [3, 3]
    for workers in sizes:
        assert sorted(job.key for team in teams(jobs, workers) for job in team) == sorted(job.key for job in jobs)
