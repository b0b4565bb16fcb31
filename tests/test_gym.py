"""The environments of Gymnasium: its own checks, its autoreset modes, and the same searches as everywhere else."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.utils.passive_env_checker import data_shares_objects
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from reference import Random

import whiffclock as wc
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, InputError, WorldSettings
from whiffclock.policy import TablePolicy
from whiffclock.world.loop import search
from whiffclock.world.starts import make_starts
from whiffclock.world.worlds import PlumeWorld

NAME = "whiffclock/Search-v0"
KINDS = ["whiff", "clock", "clock:7", "last:1", "last:5", "concentration", "position"]
MODES = list(AutoresetMode)
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def lonely():
    """A plume with one place and time to start from, if searches of 9 moves avoid its end."""
    field = np.zeros((10, 12, 5), np.float32)
    field[:, 1:5, 2] = 1.0
    field[2, 6, 3] = 2.0
    field[5, 3, 1] = 0.5
    return wc.Plume.from_array(field, (0, 2), environments={"thin": 0.4, "thick": 2.0})


def make_lonely(plume, count=None, **more):
    settings = {"plume": plume, "threshold": "thin", "horizon": 9, "world": {"end_of_record": "avoid"}, **more}
    return gymnasium.make(NAME, **settings) if count is None else gymnasium.make_vec(NAME, count, **settings)


def run_python(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("order", ["whiffclock, gymnasium", "gymnasium, whiffclock"])
def test_the_name_is_known_when_both_are_imported(order):
    code = f"import sys, {order}\nprint(gymnasium.spec('{NAME}').id, 'numba' in sys.modules)\n"
    code += "import whiffclock.registration as r\nprint(any(isinstance(f, r._WhenImported) for f in sys.meta_path))"
    assert run_python(code) == [NAME, "False", "False"]


def test_the_package_neither_needs_nor_imports_gymnasium():
    assert run_python("import sys, whiffclock\nprint('gymnasium' in sys.modules)") == ["False"]
    missing = "import sys\nsys.modules['gymnasium'] = None\nimport whiffclock as wc\nprint(wc.clock(5).rows)"
    assert run_python(missing) == ["5"]


def test_the_module_can_be_part_of_the_name(plume):
    assert gymnasium.make(f"whiffclock:{NAME}", plume=plume).unwrapped.spec.id == NAME
    envs = gymnasium.make_vec(f"whiffclock:{NAME}", num_envs=3, plume=plume)
    assert type(envs).__name__ == "SearchVectorEnv"
    assert (envs.num_envs, envs.metadata["autoreset_mode"]) == (3, AutoresetMode.NEXT_STEP)


@pytest.mark.parametrize("observation", [*KINDS, KINDS], ids=str)
def test_gymnasium_finds_nothing_wrong(plume, observation):
    env = gymnasium.make(NAME, plume=plume, observation=observation, render_mode="rgb_array")
    check_env(env.unwrapped)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("observation", ["whiff", ["last:3", "position", "concentration"]], ids=str)
def test_autoreset_is_that_of_gymnasium(lonely, mode, observation):
    """The same as single searches, which Gymnasium resets: observations, rewards, ends, infos and what they contain."""
    count, rng = 5, np.random.default_rng(3)
    singles = SyncVectorEnv(
        [lambda: make_lonely(lonely, observation=observation)] * count, autoreset_mode=mode, copy=True
    )
    many = make_lonely(lonely, count, observation=observation, autoreset_mode=mode)
    for space in ("single_observation_space", "observation_space", "single_action_space", "action_space"):
        assert getattr(many, space) == getattr(singles, space)
    assert data_equivalence(many.reset(seed=1), singles.reset(seed=1), exact=True)
    ends = 0
    for _ in range(60):
        action = rng.choice(4, size=count, p=[0.55, 0.2, 0.2, 0.05])
        one, other = many.step(action), singles.step(action)
        assert data_equivalence(one[:1] + one[2:], other[:1] + other[2:], exact=True)
        assert np.array_equal(one[1], other[1])
        over = one[2] | one[3]
        ends += one[2].any() + one[3].any()
        if mode is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            assert data_equivalence(
                many.reset(options=dict(options)), singles.reset(options=dict(options)), exact=True
            )  # fmt: skip
        assert one[0] in many.observation_space
    assert ends > 10
    many.close()
    many.close()


def follow(plume, threshold, points, actions, horizon, gamma, world):
    """All moments of given searches as the vector environment has them, with a clock of as many states as actions."""
    kinds = [f"clock:{len(actions)}", "whiff", "position", "last:3", "concentration"]
    settings = {"threshold": threshold, "horizon": horizon, "gamma": gamma, "world": world}
    envs = gymnasium.make_vec(NAME, len(points), plume=plume, observation=kinds, autoreset_mode="NextStep", **settings)
    seen, infos = envs.reset(options={"start": points})
    moments = [(seen, np.zeros(len(points)), *np.zeros((2, len(points)), bool), infos)]
    for _ in range(horizon):
        seen, *rest = envs.step(actions[seen[kinds[0]]])
        moments.append((seen, *rest))
    return moments


@pytest.mark.parametrize("threshold", ["denser", "dense", "sparse", "sparser"])
def test_searches_are_those_of_kernel_and_loop(plume, threshold):
    """Places, whiffs, rewards and ends of some thousand searches, which wrap at the end and leave the grid."""
    horizon, gamma, world = 60, 0.98, WorldSettings()
    policy = TablePolicy("random", clock(30), np.random.default_rng(5).choice([0, 0, 0, 1, 2, 3], 30))
    how = EvaluationSettings(snapshots=4, gamma=gamma, horizon=horizon)
    level = plume.environments[threshold]
    starts = make_starts(plume, level, world, how, horizon)
    moments = follow(plume, threshold, starts.points, policy.actions, horizon, gamma, world)
    evaluated = evaluate(policy, plume, level, world, how)
    arrival, total = np.zeros(len(starts), int), np.zeros(len(starts))
    over = np.zeros(len(starts), bool)
    for step, (_, reward, terminated, truncated, _) in enumerate(moments):
        total += np.where(over, 0.0, gamma ** max(step - 1, 0) * reward)
        arrival[terminated & ~over] = step
        assert not (truncated & ~over).any() or step == horizon
        assert not (terminated & truncated).any()
        over |= terminated | truncated
    assert over.all()
    assert len(starts) > 1000
    assert np.array_equal(arrival, evaluated.arrival)
    assert 0 < (arrival > 0).sum() < len(starts)
    assert pytest.approx(evaluated.per_start("G"), abs=1e-12) == total
    assert pytest.approx(evaluated.mean("G"), abs=1e-12) == total.mean()

    wrapped = left = False
    record = plume.whiffs(level).world(plume.settle(world))
    loop = search(policy, PlumeWorld(record, starts.points), horizon)
    for moment, (seen, *_, infos) in zip(loop, moments, strict=True):
        who, place = moment.search, moment.position
        here = np.column_stack([infos["cell"], infos["snapshot"]])[who]
        assert np.array_equal(here, place)
        assert np.array_equal(seen["position"][who], place[:, :2] - plume.source)
        assert np.array_equal(seen["whiff"][who] == 1, moment.whiff)
        assert np.array_equal(seen["last:3"][who, 2], moment.whiff)
        assert np.array_equal(seen["clock:30"][who], policy.memory.row[moment.memory])
        x, y, t = place.T
        on_grid = (x >= 0) & (x < 40) & (y >= 0) & (y < 27)
        expected = np.where(on_grid, plume.field[t, x.clip(0, 39), y.clip(0, 26)], 0)
        assert np.array_equal(seen["concentration"][who, 0], expected)
        assert np.array_equal(expected >= np.float32(level), moment.whiff)
        wrapped |= moment.step > 0 and bool((t == 0).any())
        left |= not on_grid.all()
    assert wrapped
    assert left


def test_one_search_is_a_vector_of_one(plume):
    how = {"plume": plume, "observation": ["whiff", "clock:9", "last:3", "concentration", "position"], "horizon": 60}
    env, envs = gymnasium.make(NAME, **how).unwrapped, gymnasium.make_vec(NAME, 1, **how, autoreset_mode="Disabled")
    rng, ended = np.random.default_rng(5), set()
    for start in [(5, 13, 150), (3, 12, 0), *((int(x), 13, int(x)) for x in rng.integers(3, 40, 10))]:
        (seen, info), (many, infos) = (one.reset(seed=1, options={"start": start}) for one in (env, envs))
        over = False
        while not over:
            for kind, value in seen.items():
                assert np.array_equal(value, many[kind][0])
                assert np.asarray(value).dtype == many[kind].dtype
            assert np.array_equal(info["cell"], infos["cell"][0])
            assert info["snapshot"] == infos["snapshot"][0]
            action = int(rng.choice(4, p=[0.5, 0.2, 0.2, 0.1]))
            kept = {kind: np.copy(value) for kind, value in seen.items()}
            later, reward, *ends, info = env.step(action)
            assert all(np.array_equal(seen[kind], kept[kind]) for kind in kept)  # no memory is shared
            seen, over = later, any(ends)
            many, rewards, *both, infos = envs.step([action])
            assert (reward, *ends) == (rewards[0], *(end[0] for end in both))
        ended.add(tuple(ends))
    assert ended == {(True, False), (False, True)}


def test_last_observations_shift(plume):
    env = gymnasium.make(NAME, plume=plume, threshold="denser", observation=["last:4", "whiff", "last:2"])
    seen, _ = env.reset(options={"start": (6, 13, 7)})
    bits = [0, 0, 0, seen["whiff"]]
    for action in (0, 3, 1, 3, 3, 2, 2, 1):
        assert seen["last:4"].tolist() == bits[-4:]
        assert seen["last:2"].tolist() == bits[-2:]
        seen, *_ = env.step(action)
        bits.append(seen["whiff"])
    assert 0 < sum(bits) < len(bits)
    again, _ = env.reset(options={"start": (6, 13, 7)})
    assert again["last:4"].tolist() == bits[:4]


def test_random_starts_are_uniform_over_cells_and_snapshots(plume):
    """By the rule of the kernel of Q-learning: one random word for cell and snapshot."""
    envs = gymnasium.make_vec(NAME, 2000, plume=plume)
    _, infos = envs.reset(seed=8)
    cells = plume.starts(5e-6, WorldSettings())
    counters = np.random.Generator(np.random.PCG64(np.random.SeedSequence(8))).integers(
        -(2**63), 2**63 - 1, size=2000, endpoint=True
    )
    for counter, cell, snapshot in zip(counters.tolist(), infos["cell"], infos["snapshot"], strict=True):
        word = Random(counter % 2**64).word()
        assert cell.tolist() == cells[(word >> 32) * len(cells) >> 32].tolist()
        assert snapshot == (word & 0xFFFFFFFF) * 200 >> 32
    on_whiff = gymnasium.make_vec(NAME, 500, plume=plume, world={"start_on_whiff": True})
    assert on_whiff.reset(seed=0)[0].all()


@pytest.mark.parametrize("mode", MODES)
def test_a_seed_repeats_everything(plume, mode):
    def episodes(seed):
        envs = gymnasium.make_vec(NAME, 40, plume=plume, observation=KINDS, horizon=6, autoreset_mode=mode)
        rng, found = np.random.default_rng(1), [envs.reset(seed=seed)]
        for _ in range(20):
            found.append(envs.step(rng.integers(4, size=40)))
            if mode is AutoresetMode.DISABLED and (over := found[-1][2] | found[-1][3]).any():
                found.append(envs.reset(options={"reset_mask": over}))
        return found

    first = episodes(3)
    assert data_equivalence(first, episodes(3), exact=True)
    assert not data_equivalence(first, episodes(4), exact=True)
    for (one, *_, info), (other, *_, other_info) in pairwise(first):
        assert not data_shares_objects(one, other)
        assert not data_shares_objects(info, other_info)


def test_only_masked_searches_begin_again(plume):
    envs = gymnasium.make_vec(NAME, 4, plume=plume, observation="position", autoreset_mode="Disabled")
    before, _ = envs.reset(seed=2)
    mask = np.array([False, True, False, True])
    after, infos = envs.reset(seed=5, options={"reset_mask": mask, "start": [(9, 9, 9)] * 4})
    assert np.array_equal(after[~mask], before[~mask])
    assert (after[mask] == np.array([9, 9]) - plume.source).all()
    assert infos["_cell"].tolist() == infos["_snapshot"].tolist() == mask.tolist()
    assert infos["snapshot"].tolist() == [0, 9, 0, 9]


def test_pictures_show_the_search_from_its_start(plume):
    policy, start = wc.cast_and_surge(30), (10, 13, 190)
    found = wc.search(policy, plume, start, "dense", horizon=25)
    settings = {"plume": plume, "threshold": "dense", "render_mode": "rgb_array"}
    env = gymnasium.make(NAME, **settings).unwrapped
    envs = gymnasium.make_vec(NAME, 2, **settings, horizon=30, autoreset_mode="SameStep")
    env.reset(seed=0)
    env.step(1)
    env.reset(options={"start": start})
    envs.reset(options={"start": start})
    frames = [env.render()]
    for action in found.action[:-1].tolist():
        env.step(action)
        envs.step([action, 3])
    frames.append(env.render())
    assert frames[0].dtype == np.uint8
    assert frames[0].shape == frames[1].shape
    assert (frames[0] != frames[1]).any()
    assert not data_shares_objects(*frames)
    paths = [env._paths.trajectory(0), *([] if found.arrived else [envs._paths.trajectory(0)])]
    for path in paths:
        for part in ("position", "whiff", "clock", "action", "snapshot"):
            assert np.array_equal(getattr(path, part), getattr(found, part)), part
    envs.reset(options={"start": start})
    for _ in range(31):
        envs.step([3, 3])
    assert envs._paths.trajectory(1).moves == 1
    assert len(envs.render()) == 2
    silent = gymnasium.make(NAME, plume=plume).unwrapped
    silent.reset()
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert silent.render() is None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"observation": "smell"}, "The observation is 'smell'; it must be whiff, clock, clock:n, last:n, concentr"),
        ({"observation": "last"}, "The observation is 'last'; it must be"),
        ({"observation": "whiff:2"}, "The observation is 'whiff:2'; it must be"),
        ({"observation": "last:-1"}, "The observation is 'last:-1'; it must be"),
        ({"observation": "last:0"}, "The observation is 'last:0'; its number must lie between 1 and 100000"),
        ({"observation": "clock:1"}, "between 2 and"),
        ({"observation": []}, "one or more, each once"),
        ({"observation": ["whiff", "whiff"]}, "one or more, each once"),
        ({"observation": 3}, "The observation is 3; it must be"),
        ({"threshold": "thick"}, "'thick'; it must be one of denser"),
        ({"horizon": 0}, "The horizon is 0; it must"),
        ({"gamma": 1.0}, "The discount gamma is 1"),
        ({"world": {"radius": -1}}, "The source radius is -1"),
        ({"plume": "nowhere.npz"}, "nowhere.npz"),
        ({"plume": 3}, "plume is 3; it must be the name of a file"),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(plume, settings, sentence):
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(InputError) as error:
            make(NAME, **{"plume": plume} | settings)
        assert sentence in str(error.value)
        assert str(error.value).count(". ") == 0
        assert "\n" not in str(error.value)


def test_other_settings_of_the_vector_are_refused(plume):
    for settings, sentence in (
        ({"num_envs": 0}, "The number of searches is 0"),
        ({"autoreset_mode": "later"}, "The autoreset_mode is 'later'; it must be one of 'NextStep', 'SameStep', 'Dis"),
        ({"render_mode": "human"}, "The render_mode is 'human'; it must be 'rgb_array' or None"),
    ):
        with pytest.raises(InputError, match=sentence):
            gymnasium.make_vec(NAME, plume=plume, **settings)


@pytest.mark.parametrize("action", [4, -1, 1.0, np.float32(1), True, "up", None, [0], 2**40, 2**70, np.uint64(2**63)])
def test_wrong_actions_are_refused_and_nothing_moves(plume, action):
    env = gymnasium.make(NAME, plume=plume, observation="position").unwrapped
    before, _ = env.reset(seed=0)
    with pytest.raises(InputError, match=r"^The action is .*; it must be .*0 \(upwind\).* or 3 \(downwind\)\.$"):
        env.step(action)
    assert np.array_equal(env._seen()[0], before)
    envs = gymnasium.make_vec(NAME, 2, plume=plume, observation="position")
    before, _ = envs.reset(seed=0)
    with pytest.raises(InputError, match=r"^The action .*; it must be .*0 \(upwind\).* or 3 \(downwind\)\.$"):
        envs.step([action, action])
    assert np.array_equal(envs._batch.observed(), before)


def test_steps_without_a_search_are_refused(plume):
    env = gymnasium.make(NAME, plume=plume, horizon=2, render_mode="rgb_array").unwrapped
    for early in (lambda: env.step(0), env.render):
        with pytest.raises(ResetNeeded, match=r"^The search has not begun; reset the environment first\.$"):
            early()
    env.reset(options={"start": (30, 2)})
    env.step(3)
    assert env.step(3)[2:4] == (False, True)
    with pytest.raises(ResetNeeded, match=r"^The search has ended; reset the environment before the next step\.$"):
        env.step(3)
    env.reset()
    envs = gymnasium.make_vec(NAME, 3, plume=plume, horizon=2, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match="has not begun"):
        envs.step([0, 0, 0])
    envs.reset(options={"start": [(30, 2), (30, 3), (3, 13)]})
    envs.step([0, 0, 0])
    with pytest.raises(ResetNeeded, match=r"^Search 2 has ended; reset it before the next step\.$"):
        envs.step([0, 0, 0])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"starts": (1, 2)}, "A reset has no option 'starts'; there is start and reset_mask."),
        ({"start": (40, 0)}, "within 40 x 27 cells"),
        ({"start": 3}, "The start is 3; it must"),
        ({"start": [(1, 2), (3, 4)]}, "2 starts are given; there must be one for all searches, or 3."),
        ({"reset_mask": [True, True, True]}, "it must be an array of 3 values of type bool"),
        ({"reset_mask": np.zeros(3, bool)}, "one at least"),
        ({"reset_mask": np.array([True, False, False])}, "The first reset must begin all searches"),
    ],
)
def test_wrong_options_of_a_reset_are_refused(plume, options, sentence):
    envs = gymnasium.make_vec(NAME, 3, plume=plume)
    with pytest.raises(InputError) as error:
        envs.reset(options=options)
    assert sentence in str(error.value)


def test_arriving_with_the_last_move_is_an_arrival(lonely):
    env = make_lonely(lonely, threshold="thin", horizon=1, gamma=0.9)
    env.reset(options={"start": (3, 2)})
    assert env.step(0)[1:4] == (1.0, True, False)
    env.reset(options={"start": (4, 2)})
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (pytest.approx(-0.1), False, True)
    assert (info["cell"].tolist(), info["snapshot"]) == ([3, 2], 1)


def test_the_page_runs(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/agents.md").read_text(), re.DOTALL):
        exec(block, names)
    assert [row.agent for row in names["table"].rows] == ["mine", "searched clock", "cast-and-surge"]


def test_a_short_lesson_of_reinforce(plume, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "examples")
    import reinforce

    monkeypatch.setattr(reinforce, "SEARCHES", 64)
    monkeypatch.setattr(reinforce, "STATES", 40)
    ticks = iter(range(10**6))
    monkeypatch.setattr(reinforce.time, "monotonic", lambda: next(ticks))
    preference = reinforce.learn(plume, "denser", 60)
    learned, before = (
        wc.from_function(lambda clock, made=made: int(made[clock].argmax()), 40, "learned")
        for made in (preference, np.zeros((40, 4)))
    )
    gained = [wc.evaluate(policy, plume, "denser", snapshots=1).mean("G") for policy in (before, learned)]
    assert gained[1] > gained[0] + 0.1
