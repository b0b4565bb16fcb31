"""Adding a memory, a metric, an engine, a kind of agent and a kind of job from outside: one place each.

The table in docs/extend.md names all such places; policies, faces, figures, environments, claims, options and
plume layouts are added from outside in the tests of each.
"""

from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

from whiffclock.evaluation import METRICS
from whiffclock.memory import MAKERS, Memory, make_memory, maker
from whiffclock.paper.claims import judge
from whiffclock.paper.dataset import Datasets
from whiffclock.paper.ensembles import Study
from whiffclock.paper.figures import drawing, picture
from whiffclock.paper.kinds import KINDS, Kind, add_kind
from whiffclock.paper.page.report import write_report
from whiffclock.paper.profiles import Profile
from whiffclock.paper.reproduce import needs_of, reproduce
from whiffclock.params import EvaluationSettings, InputError, LearningSettings
from whiffclock.recovery import recovery_path
from whiffclock.runs.jobs import Job, JobFolder, execute, run
from whiffclock.runs.kinds import Evaluate, Train


def test_a_finite_memory_is_one_function(plume, tmp_path, monkeypatch):
    monkeypatch.setattr("whiffclock.memory.MAKERS", MAKERS.copy())

    @maker
    def parity(length: int = 4) -> Memory:
        """Counts moves since the last whiff modulo ``length``."""
        node = np.arange(length)
        next_node = np.stack([(node + 1) % length, np.zeros(length, int)], axis=1)
        return Memory("parity", next_node, node, np.zeros(length, int), np.array([1, 0]), np.array([0]))

    assert make_memory({"maker": "parity", "length": 3}) == parity(3)
    store = JobFolder(tmp_path)
    job = Train(plume.fingerprint, 3e-6, parity(6), LearningSettings.shortened(100, horizon=50), plume.settle())
    test = Evaluate(job, plume.fingerprint, 3e-6, plume.settle(), EvaluationSettings(2, horizon=50))
    seen = run(test, plume, store)
    assert seen.policy == "parity"
    policy = run(job, plume, store)
    assert policy.q.shape == (6, 4)
    # A cycle has no last state: its recovery path goes round and round.
    twice = np.diff(recovery_path(policy, 0, moves=12), axis=0)
    assert np.array_equal(twice[:6], twice[6:])
    assert len(recovery_path(policy, 0, "none")) == 7


TINY = Profile("tiny", 2, 300, 2, 1, 100, 1, 30, 1, (2, 5), 60)


def test_a_metric_is_one_entry_and_its_place_does_not_matter(plume, tmp_path, monkeypatch):
    store = JobFolder(tmp_path)
    before = reproduce(Study(plume, TINY), store, ["fig2"]).datasets

    def steps(seen):
        return np.where(seen.arrived, seen.arrival, seen.horizon).astype(float)

    metrics = {"steps": steps} | METRICS
    for name in ("whiffclock.evaluation", "whiffclock.paper.collect", "whiffclock.runs.comparison"):
        monkeypatch.setattr(import_module(name), "METRICS", metrics)
    after = reproduce(Study(plume, TINY), store, ["fig2"]).datasets
    assert list(after.searches["metric"].values) == ["steps", "G", "T_min/T", "f+", "G_sum"]
    single = {"kind": "single-Q", "trained": "dense", "tested": "dense"}
    assert float(after.searches["mean"].sel(metric="steps", **single).max()) <= 60
    for one, other in zip(judge(before), judge(after), strict=True):
        assert one.value == pytest.approx(other.value, nan_ok=True)
        assert one.verdict == other.verdict


def test_an_engine_is_one_function(plume, tmp_path):
    done = []

    def one_by_one(todo, plume, store, progress):
        for job in todo:
            run(job, plume, store, progress)
            done.append(job)
        return [0.0] * len(todo)

    job = Train(
        plume.fingerprint,
        3e-6,
        make_memory({"maker": "clock", "length": 40}),
        LearningSettings.shortened(60),
        plume.settle(),
    )
    test = Evaluate(job, plume.fingerprint, 3e-6, plume.settle(), EvaluationSettings(2))
    first, second = JobFolder(tmp_path / "a"), JobFolder(tmp_path / "b")
    execute([test], plume, first, one_by_one)
    execute([test], plume, second)
    assert done == [job, test]
    for one in done:
        paths = [store.store.path(one.kind, one.description) for store in (first, second)]
        assert paths[0].read_bytes() == paths[1].read_bytes()


@dataclass(frozen=True)
class MovesUpwind(Job):
    """How many clock readings an agent answers by moving upwind, ``offset`` of them not counted."""

    kind, verb = "upwind", "counting"

    policy: Train
    offset: int = 0

    def cost(self, plume):
        return 1

    def compute(self, plume, needed, tick):
        tick(1)
        return int((needed["policy"].actions == 0).sum()) - self.offset

    def pack(self, result):
        return {"count": np.array(result)}

    def unpack(self, arrays, plume, path):
        return int(arrays["count"])


def test_a_kind_of_job_is_one_class(plume, tmp_path, monkeypatch):
    memory = make_memory({"maker": "clock", "length": 40})
    trained = Train(plume.fingerprint, 3e-6, memory, LearningSettings.shortened(60, horizon=40), plume.settle())
    job, other = MovesUpwind(trained), MovesUpwind(trained, offset=2)
    store, told = JobFolder(tmp_path), []
    assert execute([job, other], plume, store, progress=told.append) == [trained, job, other]
    assert sum(told) == 60 + 1 + 1
    assert (job.task, job.thresholds) == ("counting single-Q", trained.thresholds)
    monkeypatch.setattr(MovesUpwind, "compute", lambda *_: pytest.fail("computed again"))
    found = run(job, plume, store)
    assert found == (run(trained, plume, store).actions == 0).sum()
    assert run(other, plume, store) == found - 2
    assert execute([job, other], plume, store) == []


def test_a_kind_of_agent_is_one_entry(plume, tmp_path, monkeypatch):
    def policies(study, environment):
        learning, window = LearningSettings.shortened(50, horizon=60), make_memory({"maker": "window", "n": 2})
        threshold = study.environments[environment]
        return [Train(study.plume.fingerprint, threshold, window, learning, study.world, seed) for seed in range(2)]

    kind = Kind("window of two", policies, "Window", drawn="box", needs={"fig2": "at home", "fig4": "elsewhere"})
    monkeypatch.setitem(KINDS, kind.name, kind)
    with pytest.raises(InputError, match="called 'window of two' already"):
        add_kind(kind)
    data = reproduce(Study(plume, TINY), JobFolder(tmp_path), ["fig2", "fig4"]).datasets
    data.save(tmp_path / "data")
    data = Datasets.load(tmp_path / "data")
    returns = data.searches["mean"].sel(kind="window of two", metric="G")
    assert returns.notnull().all()  # in every environment, from every environment
    legend = [text.get_text() for text in picture("fig2", data).legends[0].get_texts()]
    assert "window of two, n = 2" in legend
    assert "window of two" in drawing("fig2").table(data).header
    page = write_report(data, tmp_path / "report", []).read_text()
    assert ">Window" in page
    assert all(need.kind != "window of two" for need in needs_of(["fig3"]))
