"""A policy is easy to write: a method act, or a function of the clock; what is none gets one sentence."""

import matplotlib.figure
import numpy as np
import pytest
from blanks import follow_blanks

import whiffclock as wc
from whiffclock.evaluation import evaluate
from whiffclock.params import EvaluationSettings, InputError, WorldSettings
from whiffclock.policy import Policy
from whiffclock.recovery import recovery_path
from whiffclock.runs.kinds import Given
from whiffclock.world.loop import search
from whiffclock.world.trajectory import trajectory
from whiffclock.world.worlds import PlumeWorld, ScriptWorld

FEW = EvaluationSettings(snapshots=1, horizon=40)


class Upwind(Policy):
    """Nothing but an action: upwind on a whiff, across the wind on a blank."""

    def act(self, memory):
        return np.where(memory, 0, 1)


class Always(Policy):
    """No memory at all, and one action for all searches."""

    name = "always upwind"

    def begin(self, whiff):
        return None

    def act(self, memory):
        return 0

    def observe(self, memory, action, whiff):
        return None


class Pair(Policy):
    """Remembers two arrays: the clock, and the side of the last cast."""

    def begin(self, whiff):
        return np.where(whiff, 0, 1), np.ones(len(whiff), dtype=int)

    def act(self, memory):
        clock, side = memory
        return np.where(clock == 0, 0, side)

    def observe(self, memory, action, whiff):
        clock, side = memory
        return np.where(whiff, 0, clock + 1), np.where(clock % 5 == 4, 3 - side, side)


class Drunk(Policy):
    """Moves by chance."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def act(self, memory):
        return self.rng.integers(4, size=len(memory))


@pytest.mark.parametrize("policy", [Upwind(), Always(), Pair(), Drunk()], ids=lambda policy: policy.name)
def test_who_writes_act_has_a_policy(plume, policy):
    seen = evaluate(policy, plume, 3e-6, settings=FEW)
    assert seen.policy == policy.name
    assert np.array_equal(seen.mode_steps[:, 0], np.where(seen.arrived, seen.arrival, 40))
    assert wc.search(policy, plume, (30, 13), "dense", horizon=40).moves > 0
    table = wc.compare([policy], plume, "dense", snapshots=1, horizon=40)
    assert table.rows[0].agent.startswith(policy.name)
    path = recovery_path(policy, moves=30)
    assert path.shape == (31, 2)
    assert len(recovery_path(policy)) == 501
    assert np.abs(np.diff(path, axis=0)).sum(axis=1).tolist() == [1] * 30
    ax = matplotlib.figure.Figure().add_subplot()
    assert wc.plot_recovery_path(policy, ax=ax).has_data()
    assert (policy.modes, policy.threshold, policy.made_from) == (1, None, {})


def test_a_name_comes_from_the_class_or_from_its_author():
    assert Upwind().name == "Upwind"
    assert Always().name == "always upwind"
    mine = Upwind()
    mine.name = "mine"
    mine.made_from = {"threshold": 3e-6}
    assert (mine.name, mine.threshold) == ("mine", 3e-6)


def test_memories_that_are_tuples_or_nothing_are_selected():
    rows = np.array([2, 0])
    first, (second, third) = Pair().select((np.arange(3), (np.arange(3) + 5, None)), rows)
    assert first.tolist() == [2, 0]
    assert second.tolist() == [7, 5]
    assert third is None


def test_the_path_of_a_table_is_that_of_the_same_policy_without_one():
    cast = wc.cast_and_surge(40, 50)

    class Face(Policy):
        def begin(self, whiff):
            return cast.begin(whiff)

        def act(self, memory):
            return cast.act(memory)

        def observe(self, memory, action, whiff):
            return cast.observe(memory, action, whiff)

    assert np.array_equal(recovery_path(Face(), moves=80), recovery_path(cast, moves=80))
    assert np.array_equal(recovery_path(Face(), moves=80), follow_blanks(cast, cast.begin(np.ones(1, bool)), 80)[0])
    with pytest.raises(InputError, match="number of moves is -1"):
        recovery_path(cast, moves=-1)


def test_the_actions_of_a_search_are_those_that_were_taken(plume):
    found = trajectory(Drunk(), PlumeWorld(plume.whiffs(3e-6).world(WorldSettings()), np.array([[30, 13, 0]])), 50)
    assert found.moves == 50
    moves = np.array([(-1, 0), (0, 1), (0, -1), (1, 0)])[found.action[:-1]]
    assert np.array_equal(np.diff(found.position, axis=0), moves)
    assert found.action[-1] == -1


def test_a_moment_has_the_next_move_of_those_that_go_on():
    expected = np.zeros((6, 2), dtype=int)
    for moment in search(Drunk(), ScriptWorld(6), 5):
        assert np.array_equal(moment.position, expected)
        moment.stop[:] = moment.search == moment.step
        move = np.array([(-1, 0), (0, 1), (0, -1), (1, 0), (0, 0)])[moment.action]
        expected = (moment.position + move)[~moment.stop]
    assert moment.action.tolist() == [-1]
    assert moment.search.tolist() == [5]


@pytest.mark.parametrize("actions", [np.zeros(3, int), np.zeros((1, 1), int), np.zeros(1), ["upwind"], [7], [-1]])
def test_what_is_no_action_is_refused(actions):
    class Wrong(Policy):
        def act(self, memory):
            return actions

    with pytest.raises(InputError, match="The policy Wrong chose an action that does not exist"):
        recovery_path(Wrong(), moves=3)


class Lacking:
    """Has an act, but is no Policy."""

    def act(self, memory):
        return memory


class Actless(Policy):
    pass


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("a text", "A str is not a policy, .*; whiffclock.load_policy reads one from a file"),
        (b"a text", "A bytes is not a policy, since it has no method act: derive a class from"),
        ([wc.cast_and_surge(30)], "A list is not a policy, since it has no method act"),
        (None, "A NoneType is not a policy, since it has no method act"),
        (lambda clock: 0, "A function is not a policy.* becomes a policy by whiffclock.from_function"),
        (Upwind, "Upwind is a class, not a policy; a policy is made by calling it"),
        (Actless(), "The policy Actless has no method act"),
        (Lacking(), "The policy of type Lacking has no name, modes, .*select: derive a class"),
    ],
)
def test_what_is_no_policy_gets_a_sentence_that_says_what_is_missing(plume, wrong, says):
    uses = [
        lambda: evaluate(wrong, plume, 3e-6, settings=FEW),
        lambda: trajectory(wrong, ScriptWorld(1), 5),
        lambda: recovery_path(wrong),
        lambda: Given.of(wrong),
        lambda: Given("mine", "0", wrong),
        lambda: wc.heuristic_two_q(wrong, wrong, 5),
    ]
    for use in uses:
        with pytest.raises(InputError, match=says) as caught:
            use()
        assert "\n" not in str(caught.value)


def test_a_function_of_the_clock_is_a_policy(plume, tmp_path):
    def zigzag(clock):
        return "upwind" if clock < 2 else ("+y", 2)[clock % 2]

    policy = wc.from_function(zigzag, length=6)
    assert policy.name == "zigzag"
    assert policy.actions.tolist() == [0, 0, 1, 2, 1, 2]
    assert wc.from_function(zigzag, 6, "mine").name == "mine"
    assert len(wc.from_function(lambda clock: np.int64(3)).actions) == 500
    assert 0 < evaluate(policy, plume, 3e-6, settings=FEW).mean("f+") < 1
    policy.save(tmp_path / "zigzag.npz")
    assert wc.load_policy(tmp_path / "zigzag.npz") == policy


@pytest.mark.parametrize("wrong", ["left", 4, -1, 1.0, True, None, [0]])
def test_a_function_that_gives_no_action_is_refused(wrong):
    with pytest.raises(InputError, match=r"At clock 2 the function gives .*; an action is one of upwind, \+y, -y, dow"):
        wc.from_function(lambda clock: wrong if clock == 2 else 0, length=5)


def test_what_is_no_function_is_refused():
    with pytest.raises(InputError, match="not a list"):
        wc.from_function([0, 1, 2])
    with pytest.raises(InputError, match="length"):
        wc.from_function(lambda clock: 0, length=2.5)


def test_actions_in_any_byte_order_are_searched_with(plume):
    cast = wc.cast_and_surge(40, 50)
    swapped = wc.TablePolicy(cast.name, cast.memory, cast.actions.astype(">i4"))
    assert np.array_equal(evaluate(swapped, plume, 3e-6).arrival, evaluate(cast, plume, 3e-6).arrival)


def test_bayesian_agents_without_a_solver_are_made_like_others(plume, tmp_path):
    for made, name in [
        (wc.qmdp(plume, "dense"), "QMDP"),
        (wc.infotaxis(plume, 3e-6, floor=1e-4), "infotaxis"),
        (wc.infotaxis(plume, "dense", space_aware=True), "space-aware infotaxis"),
    ]:
        assert (made.name, made.threshold, made.modes) == (name, 3e-6, 1)
        made.save(tmp_path / "agent.npz")
        again = wc.load_policy(tmp_path / "agent.npz")
        assert repr(again) == repr(made)
        assert again.made_from == made.made_from
        assert np.array_equal(recovery_path(again, moves=5), recovery_path(made, moves=5))
    with pytest.raises(InputError, match="'thick'"):
        wc.qmdp(plume, "thick")


def test_earlier_names_still_work_with_a_warning():
    cast = wc.cast_and_surge(30, 20)
    with pytest.warns(DeprecationWarning, match="whiffclock.void_path is called recovery_path now"):
        assert np.array_equal(wc.void_path(cast), wc.recovery_path(cast))
    with pytest.warns(DeprecationWarning, match="plot_recovery_path"):
        assert wc.plot_void_path is wc.plot_recovery_path
    assert not {"void_path", "plot_void_path"} & {*wc.__all__}
