"""The Bayesian agent: its model of a plume, its file, its recovery, and the commands."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from blanks import follow_blanks
from command import whiffclock as run
from small_pomdps import TIGER

from whiffclock import pomdp
from whiffclock.agents.bayes import BayesSettings, BeliefPolicy, belief_heuristic, quasi_optimal, search_model
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.files import load_policy
from whiffclock.archive import write_npz
from whiffclock.evaluation import evaluate
from whiffclock.params import EvaluationSettings, InputError, WorldSettings
from whiffclock.path_metrics import GEOMETRY as METRICS
from whiffclock.path_metrics import geometry
from whiffclock.plume.reading.files import write_plume
from whiffclock.plume.toy import toy_plume
from whiffclock.pomdp.blocks import BlockModel
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.recovery import BranchSettings, blank_probability, follow_return, forced_blanks

DENSE = 3e-6


@pytest.fixture(scope="module")
def small():
    return toy_plume(snapshots=150, length=20, width=11, seed=3)


@pytest.fixture(scope="module")
def model(small):
    return search_model(small, DENSE)


@pytest.fixture(scope="module")
def solution(model):
    return solve(model, SolverSettings(seconds=None, backups=1500))


@pytest.fixture(scope="module")
def agent(model, solution):
    return quasi_optimal(model, solution.vectors, {"threshold": DENSE})


def test_the_model_is_the_record_seen_from_the_source(small, model):
    length, width = small.field.shape[1:]
    assert model.target.shape == (2 * length - 1, 2 * width - 1)
    x0, y0 = small.source
    frequency = (np.asarray(small.field) >= DENSE).mean(axis=0)
    floor = BayesSettings().floor
    for x, y in [(5, y0), (12, y0 + 2), (19, 0)]:
        here = model.likelihood[1, length - 1 + x - x0, width - 1 + y - y0]
        assert here == pytest.approx(np.clip(frequency[x, y], floor, 1 - floor))
    assert model.likelihood[1, 0].max() == floor  # upwind of the record
    assert model.likelihood.sum(axis=0) == pytest.approx(1)
    middle = np.argwhere(model.target) - [length - 1, width - 1]
    assert {tuple(offset) for offset in middle} == {
        (x, y) for x in range(-2, 3) for y in range(-2, 3) if x * x + y * y <= 4
    }
    starts = small.starts(DENSE, WorldSettings())
    assert (model.initial > 0).sum() == len(starts)


def test_the_agent_does_what_its_bounds_promise_and_beats_its_neighbours(small, model, solution, agent):
    assert 0 < solution.lower <= solution.upper < 1
    settings = EvaluationSettings(snapshots=4)
    judged = evaluate(agent, small, DENSE, settings=settings)
    assert judged.mean("f+") > 0.95
    tuned = max(evaluate(cast_and_surge(angle), small, DENSE, settings=settings).mean("G") for angle in (20, 40, 60))
    qmdp = evaluate(belief_heuristic("QMDP", model), small, DENSE, settings=settings)
    assert judged.mean("G") > max(tuned, qmdp.mean("G"))


def test_file_round_trip(small, agent, model, tmp_path):
    for policy in (agent, belief_heuristic("infotaxis", model, {"threshold": DENSE})):
        policy.save(tmp_path / "policy.npz")
        again = load_policy(tmp_path / "policy.npz")
        assert (again.name, again.threshold) == (policy.name, DENSE)
        settings = EvaluationSettings(snapshots=1)
        before, after = (evaluate(p, small, DENSE, settings=settings) for p in (policy, again))
        assert np.array_equal(before.arrival, after.arrival)
    assert BeliefPolicy.load(tmp_path / "policy.npz").vectors is None


def test_a_damaged_file_is_refused(agent, tmp_path):
    path = tmp_path / "policy.npz"
    agent.save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["likelihood"] = arrays["likelihood"] * 2
    write_npz(path, arrays)
    with pytest.raises(InputError, match="damaged whiffclock policy"):
        load_policy(path)


def _changed_header(**changes):
    def change(arrays):
        header = json.loads(str(arrays["header"])) | changes
        return arrays | {"header": np.array(json.dumps({k: v for k, v in header.items() if v is not ...}))}

    return change


def _changed(name, change):
    return lambda arrays: arrays | {name: change(arrays[name])}


@pytest.mark.parametrize(
    "change",
    [
        *(_changed_header(**{name: ...}) for name in ("name", "made_from", "discount")),
        *(_changed_header(name=name) for name in (None, 3, "dowsing")),
        *(_changed_header(made_from=value) for value in (None, [], "x", 1)),
        *(_changed_header(made_from={"threshold": value}) for value in ("a", -1, [], float("nan"))),
        *(_changed_header(made_from=value) for value in ({"plume": 3}, {"world": []}, {"plume_origin": {}})),
        *(_changed_header(discount=value) for value in (None, "0.9", 1, 0, float("nan"), float("inf"), [])),
        *(_changed("header", lambda _, text=text: np.array(text)) for text in ("", "[]", "3", "{", 4.0)),
        *(
            lambda arrays, name=name: {key: value for key, value in arrays.items() if key != name}
            for name in ("likelihood", "target", "initial", "moves", "vectors", "actions", "header")
        ),
        *(_changed(name, lambda a: a[:-1]) for name in ("likelihood", "target", "initial", "moves", "actions")),
        *(_changed(name, lambda a: a[None]) for name in ("likelihood", "target", "initial", "moves", "vectors")),
        *(_changed(name, lambda a: a.astype(str)) for name in ("likelihood", "target", "initial", "moves", "vectors")),
        *(_changed(name, lambda a: a * np.nan) for name in ("likelihood", "initial", "moves", "vectors", "actions")),
        *(_changed(name, lambda a: a.astype(float) + 0.5) for name in ("target", "moves", "actions")),
        _changed("actions", lambda a: a + 4),
        _changed("moves", lambda a: -a),
        _changed("vectors", lambda a: a[:, :-1]),
        lambda arrays: arrays | {"vectors": arrays["vectors"][:0], "actions": arrays["actions"][:0]},
        _changed("target", np.zeros_like),
    ],
)
def test_every_broken_part_of_a_file_is_refused_in_one_sentence(agent, tmp_path, change):
    path = tmp_path / "policy.npz"
    agent.save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    write_npz(path, change(arrays))
    with pytest.raises(InputError) as refused:
        load_policy(path)
    message = str(refused.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message


def test_blank_probability_by_hand():
    blank = np.array([[0.5, 0.25], [0.8, 1.0]])
    path = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [2, 0]])
    assert blank_probability(path, blank) == pytest.approx(0.25 * 1.0 * 0.8)  # not the whiff, not off the grid
    assert blank_probability(path[:1], blank) == 1.0


def test_a_clock_branches_into_its_one_recovery_path(small):
    policy = cast_and_surge(30, length=60)
    branches = forced_blanks(policy, small, DENSE, settings=BranchSettings(trials=5, steps=20, horizon=60))
    alone = follow_blanks(policy, policy.begin(np.ones(1, dtype=bool)), 60)[0]
    assert len(branches) > 5
    for path in branches.paths:
        assert np.array_equal(path - path[0], alone)  # it never returns, so it is followed for all 60 steps
    assert (branches.metrics[:, METRICS.index("surge_length")] == geometry(alone).surge_length).all()
    assert np.isnan(branches.metrics[:, METRICS.index("downwind_return_start")]).all()


def test_branches_start_at_whiffs_and_end_with_their_return(small, agent):
    settings = BranchSettings(trials=8, steps=30, horizon=120)
    branches = forced_blanks(agent, small, DENSE, settings=settings)
    assert len(branches) > 8
    assert ((branches.weight >= 0) & (branches.weight <= 1)).all()
    assert branches.weight.any()
    for path, metrics in zip(branches.paths, branches.metrics, strict=True):
        assert metrics == pytest.approx(list(asdict(geometry(path)).values()), nan_ok=True)
        moves = np.diff(path[:, 0])
        if len(path) <= settings.horizon:
            assert (moves[-1:] == 1).all()  # the last move of a return is downwind
    again = forced_blanks(agent, small, DENSE, settings=settings)
    assert np.array_equal(again.weight, branches.weight)


def test_follow_return_is_follow_blanks_cut_short(agent):
    memory = agent.begin(np.ones(3, dtype=bool))
    whole = follow_blanks(agent, memory, 80)
    for path, full in zip(follow_return(agent, memory, 80), whole, strict=True):
        assert np.array_equal(path, full[: len(path)])


def test_solve_and_evaluate_from_the_command_line(small, tmp_path):
    plume, policy = tmp_path / "plume.npz", tmp_path / "bayes.npz"
    write_plume(small, plume)
    solve_words = ["bayes", "solve", "--plume", plume, "-e", "dense", "--backups", 300, "--out", policy, "--json"]
    done = run(*solve_words)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert 0 < facts["lower"] <= facts["upper"]
    assert facts["backups"] >= 300
    refused = run(*solve_words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--force" in refused.stderr

    on = run(*solve_words, "--force", "--start", policy)
    assert json.loads(on.stdout)["lower"] >= facts["lower"]
    other = run("bayes", "solve", "--plume", plume, "-e", "5e-5", "--backups", 9, "--start", policy)
    assert other.returncode == 2
    assert "was solved for another" in other.stderr

    with np.load(policy) as archive:
        arrays = dict(archive)
    write_npz(tmp_path / "doubled.npz", arrays | {"vectors": 2 * arrays["vectors"]})
    doubled = run(*solve_words, "--force", "--start", tmp_path / "doubled.npz")
    assert (doubled.returncode, doubled.stdout) == (2, "")
    assert re.fullmatch(r"whiffclock: Vector \d+ to start from is not a lower bound: .*\.", doubled.stderr.strip())

    words = ["--plume", plume, "--snapshots", 2, "--json"]
    tested = json.loads(run("bayes", "evaluate", policy, "-a", "QMDP", "-e", "dense", *words).stdout)
    assert [row["agent"] for row in tested] == ["bayes", "QMDP"]
    short = json.loads(run("bayes", "evaluate", policy, "-a", "QMDP", "-e", "dense", "--horizon", 4, *words).stdout)
    assert [row["horizon"] for row in short] == [4, 4]
    assert all(few["f+"]["mean"] < many["f+"]["mean"] for few, many in zip(short, tested, strict=True))
    plain = json.loads(run("evaluate", policy, *words).stdout)
    assert plain[0]["G"] == tested[0]["G"]
    known = json.loads(run("info", policy, "--json").stdout)
    assert (known["policy"], known["threshold"], known["grid"]) == ("Bayesian", DENSE, [39, 21])
    compared = json.loads(run("compare", policy, *words).stdout)
    assert [row["agent"] for row in compared["rows"]] == ["Bayesian", "cast-and-surge"]


def test_the_search_is_exported_as_a_pomdp(small, tmp_path):
    plume, out = tmp_path / "plume.npz", tmp_path / "dense.pomdp"
    write_plume(small, plume)
    done = run("bayes", "export", out, "--plume", plume, "-e", "dense")
    assert done.returncode == 0, done.stderr
    read, model = pomdp.read(out), search_model(small, DENSE)
    assert read.actions == ("upwind", "plus_y", "minus_y", "downwind")
    assert read.observations == ("blank", "whiff", "arrival")
    assert len(read.states) == (~model.target).sum() + 1
    assert read.discount == model.discount
    # Of the same searches, both know the value if all is seen.
    known = BlockModel(read).upper().at(BlockModel(read).root())
    assert known == pytest.approx(model.upper().at(model.root()), rel=1e-5)
    assert run("bayes", "export", out, "--plume", plume, "-e", "dense").returncode == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bayes", "export", "dense.txt", "-e", "dense"], "dense.txt must end in .pomdp."),
        (["bayes", "export", "a.pomdp", "-e", "dense", "--likelihood", "conditional"], "only independent whiffs"),
        (["bayes", "evaluate"], "No policy was given"),
        (["bayes", "evaluate", "-a", "dowsing"], "There is no agent called 'dowsing'"),
        (["bayes", "solve", "-e", "thick"], "--environment is 'thick'"),
        (["bayes", "solve", "-e", "sparse", "-e", "dense"], "--environment was given 2 times (sparse, dense)"),
        (["bayes", "solve", "-e", "dense", "--floor", "0.7"], "The floor is 0.7"),
        (["bayes", "solve", "-e", "dense", "--seconds", "-1"], "seconds is -1"),
        (["pomdp", "solve", "nowhere.pomdp"], "There is no file at nowhere.pomdp"),
        (["pomdp", "solve", "model.txt"], "model.txt"),
    ],
)
def test_bad_input_gets_one_sentence(words, sentence):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_pomdp_solve_writes_a_policy_to_go_on_from(tmp_path):
    model, policy = tmp_path / "tiger.pomdp", tmp_path / "tiger.policy"
    model.write_text(TIGER)
    first = json.loads(run("pomdp", "solve", model, "--json", "--out", policy).stdout)
    assert first["ended"] == "gap reached"
    assert first["lower"] <= 19.3721  # bounds of the reference solver: 19.3711 and 19.3721
    assert first["upper"] >= 19.3711
    on = json.loads(run("pomdp", "solve", model, "--json", "--start", policy, "--backups", 0).stdout)
    assert on["lower"] == pytest.approx(first["lower"], abs=1e-9)
    more = re.sub(
        r">([-0-9. ]+)<", lambda m: f">{' '.join(str(1.5 * float(x)) for x in m[1].split())}<", policy.read_text()
    )
    policy.write_text(more)
    refused = run("pomdp", "solve", model, "--start", policy, "--backups", 0)
    assert (refused.returncode, refused.stdout) == (2, "")
    said = refused.stderr.strip()
    assert re.fullmatch(r"whiffclock: .* are not lower bounds: their value at the initial belief is 29\.05.*\.", said)


def test_names_with_square_brackets_are_names(small, model, tmp_path):
    plume, policy = tmp_path / "[b].npz", tmp_path / "[red]x.npz"
    write_plume(replace(small, origin="made by [/a]"), plume)
    solved = run("bayes", "solve", "--plume", plume, "-e", "dense", "--backups", 9, "--out", policy)
    assert solved.returncode == 0, solved.stderr
    assert "made by [/a]" in solved.stdout
    tested = run("bayes", "evaluate", policy, "--plume", plume, "--snapshots", 1, "--anyway")
    assert tested.returncode == 0, tested.stderr
    assert "[red]x" in tested.stdout
    assert "made by [/a]" in tested.stdout
    assert "[red]x in dense: " in tested.stderr
    tiger = tmp_path / "[/i].pomdp"
    tiger.parent.mkdir()
    tiger.write_text(TIGER)
    solved = run("pomdp", "solve", tiger, "--backups", 9, "--out", tmp_path / "[/p].policy")
    assert solved.returncode == 0, solved.stderr
    assert "[/i].pomdp" in "".join(solved.stdout.split())
    assert (tmp_path / "[/p].policy").exists()


def test_a_policy_of_no_environment_needs_one_named(model, tmp_path):
    belief_heuristic("QMDP", model).save(tmp_path / "any.npz")
    refused = run("bayes", "evaluate", tmp_path / "any.npz")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.endswith("any.npz has no training environment; give one with --environment.\n")
