"""Small POMDPs in files and in tables, their values by brute force, and what must hold of any file or solution."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from whiffclock.params import InputError
from whiffclock.pomdp.files import read_model
from whiffclock.pomdp.gridsearch import GridSearch
from whiffclock.pomdp.tabular import TabularModel
from whiffclock.world.moves import MOVES

EXAMPLES = Path(__file__).parents[2] / "shared" / "data" / "pomdp"
SAMPLINGS = ("mixed", "published", "policy")

needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the example problems are not beside the project")

# In files

# Kaelbling, Littman and Cassandra 1998, section 5.1
TIGER = """\
discount: 0.95
values: reward
states: left right
actions: listen open-left open-right
observations: hear-left hear-right
T: listen identity
T: open-left uniform
T: open-right uniform
O: listen
0.85 0.15
0.15 0.85
O: open-left uniform
O: open-right uniform
R: listen : * : * : * -1
R: open-left : left : * : * -100
R: open-left : right : * : * 10
R: open-right : left : * : * 10
R: open-right : right : * : * -100
"""


def saved(folder: Path, text: str, name: str = "problem.pomdp") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def dense(matrices: tuple) -> np.ndarray:
    return np.array([matrix.toarray() for matrix in matrices])


def same(one: TabularModel, other: TabularModel) -> None:
    np.testing.assert_allclose(dense(one.transition), dense(other.transition), atol=1e-12)
    np.testing.assert_allclose(dense(one.observation), dense(other.observation), atol=1e-12)
    np.testing.assert_allclose(one.reward, other.reward, atol=1e-12)
    np.testing.assert_allclose(one.initial, other.initial, atol=1e-12)
    assert one.discount == other.discount


def refused(path: Path, line: int | None, reason: str) -> None:
    with pytest.raises(InputError) as error:
        read_model(path)
    message = str(error.value)
    assert str(path) in message
    assert reason in message
    assert message.endswith(".")
    assert "\n" not in message
    if line is not None:
        assert f", line {line}: " in message


def variable(kind: str, values: str, **attributes: str) -> str:
    listed = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{kind}{listed}><ValueEnum>{values}</ValueEnum></{kind}>"


def given(var: str, parents: str, *entries: tuple[str, str], kind: str = "CondProb") -> str:
    table = "ProbTable" if kind == "CondProb" else "ValueTable"
    listed = "\n".join(f"<Entry><Instance>{i}</Instance><{table}>{t}</{table}></Entry>" for i, t in entries)
    return f"<{kind}><Var>{var}</Var><Parent>{parents}</Parent><Parameter type='TBL'>{listed}</Parameter></{kind}>"


def rover(rock: str = "") -> str:
    """A rock that is good or bad, hidden, and a rover near or far, seen; the rock is declared first."""
    rock = rock or given("k_1", "a x_0 k_0", ("* * - -", "identity"), ("take near * -", "0 1"))
    return "\n".join(
        [
            "<pomdpx version='1.0'><Discount>0.9</Discount><Variable>",
            variable("StateVar", "good bad", vnamePrev="k_0", vnameCurr="k_1", fullyObs="false"),
            variable("StateVar", "near mid far", vnamePrev="x_0", vnameCurr="x_1", fullyObs="true"),
            variable("ObsVar", "shine dull", vname="o"),
            variable("ActionVar", "go take", vname="a"),
            "<RewardVar vname='r'/><RewardVar vname='toll'/></Variable><InitialStateBelief>",
            given("x_0", "null", ("-", "0.5 0.5 0")),
            given("k_0", "null", ("-", "0.75 0.25")),
            "</InitialStateBelief><StateTransitionFunction>",
            rock,
            given("x_1", "a x_0", ("* - -", "identity"), ("go near -", "0.2 0.8 0"), ("go mid -", "0 0.2 0.8")),
            "</StateTransitionFunction><ObsFunction>",
            given("o", "a k_1 x_1", ("* * * dull", "1"), ("go - near -", "0.9 0.1 0.2 0.8")),
            "</ObsFunction><RewardFunction>",
            given("r", "a x_0 k_0", ("take near -", "10 -10"), kind="Func"),
            given("toll", "a x_0 x_1", ("go near mid", "-1"), ("go mid far", "-2"), kind="Func"),
            given("toll", "o", ("shine", "0.5"), kind="Func"),
            "</RewardFunction></pomdpx>",
        ]
    )


# In tables


def tables(transition, observation, reward, initial, discount, **more):
    """A model from dense tables T[a, s, s'], O[a, s', o], R[a, s]."""
    return TabularModel(
        tuple(sp.csr_array(matrix) for matrix in np.asarray(transition, dtype=float)),
        tuple(sp.csr_array(matrix) for matrix in np.asarray(observation, dtype=float)),
        np.asarray(reward, dtype=float),
        np.asarray(initial, dtype=float),
        discount,
        **more,
    )


def tiger():
    """Kaelbling, Littman and Cassandra 1998, section 5.1."""
    nothing = np.full((2, 2), 0.5)
    heard = [[0.85, 0.15], [0.15, 0.85]]
    reward = [[-1, -1], [-100, 10], [10, -100]]
    return tables([np.eye(2), nothing, nothing], [heard, nothing, nothing], reward, [0.5, 0.5], 0.95)


def random_tables(seed, discount=0.5):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    transition = rng.dirichlet(np.full(n, 0.5), size=(2, n))
    observation = rng.dirichlet(np.full(2, 0.5), size=(2, n))
    return tables(transition, observation, rng.normal(size=(2, n)), rng.dirichlet(np.ones(n)), discount)


def search(seed, shape, discount, moves=MOVES):
    """A random search on a small grid."""
    rng = np.random.default_rng(seed)
    target = np.zeros(shape, bool)
    target[tuple(rng.integers(shape))] = True
    chance = np.clip(rng.random(shape) ** 2, 1e-3, 1 - 1e-3)
    initial = rng.random(shape) * ~target
    return GridSearch(np.stack([1 - chance, chance]), target, initial / initial.sum(), moves, discount)


def robot(discount=0.8, spots=3, initial=None, **more):
    """A robot on a row of cells, which it knows, and a thing hidden at one of two ends, which it does not.

    Actions: left, right, take. Observations: the robot's cell, and a noisy sign of the thing, better at cell 0.
    A state after taking (robot at ``spots``) ends it all; a further state can be reached from nowhere.
    """
    n = 2 * (spots + 1) + 1
    end, lonely = 2 * spots, n - 1
    transition, reward = np.zeros((3, n, n)), np.zeros((3, n))
    seen = np.zeros((n, 2 * (spots + 1)))
    for cell in range(spots):
        for thing in range(2):
            s = 2 * cell + thing
            transition[0, s, 2 * max(cell - 1, 0) + thing] = 1
            transition[1, s, 2 * min(cell + 1, spots - 1) + thing] = 1
            transition[2, s, end + thing] = 1
            reward[:, s] = -0.05, -0.1, (1 if (cell == 0) == (thing == 0) else -2)
            sure = 0.9 if cell == 0 else 0.6
            seen[s, 2 * cell + thing], seen[s, 2 * cell + 1 - thing] = sure, 1 - sure
    for s in (end, end + 1, lonely):
        transition[:, s, s if s < lonely else 0] = 1
        seen[s, 2 * spots] = 1
    if initial is None:
        initial = np.zeros(n)
        initial[[2, 3]] = 0.5  # cell 1, nothing known of the thing
    return tables(transition, [seen] * 3, reward, initial, discount, **more)


def looking_robot():
    initial = np.zeros(9)
    initial[:6] = [0.05, 0.25, 0.1, 0.2, 0.1, 0.3]
    return robot(initial=initial, visible=np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])), initial


def dense_tables(model):
    """T[a, s, s'] and O[a, s', o] of a tabular model."""
    return dense(model.transition), dense(model.observation)


def brute_force(model, depth, belief=None):
    """Bounds on the optimal value by the tree of all beliefs down to ``depth``.

    V(w) = max over a of w R_a + discount * sum over o of V(w T_a O_o), for weights w that need not sum to one.
    At the leaves, the value lies between those of doing the worst for ever and of knowing everything.
    """
    transition, observation = dense_tables(model)
    gamma, reward = model.discount, model.reward
    steps = [transition[a] * observation[a][:, o] for a in range(len(reward)) for o in range(observation.shape[2])]
    steps = [step for step in steps if step.any()]
    per_action = [sum((transition[a] * observation[a][:, o]).any() for o in range(observation.shape[2]))
                  for a in range(len(reward))]  # fmt: skip
    first = np.cumsum(per_action) - per_action
    levels = [(model.initial if belief is None else belief)[None]]
    for _ in range(depth):
        levels.append(np.stack([levels[-1] @ step for step in steps], axis=1).reshape(-1, len(model.initial)))
    known = np.zeros(len(model.initial))
    for _ in range(2000):
        known = (reward + gamma * transition @ known).max(axis=0)
    low, high = levels[-1].sum(axis=1) * reward.min() / (1 - gamma), levels[-1] @ known
    for weights in reversed(levels[:-1]):
        now = weights @ reward.T
        low, high = (
            (now + gamma * np.add.reduceat(value.reshape(len(weights), -1), first, axis=1)).max(axis=1)
            for value in (low, high)
        )
    return float(low[0]), float(high[0])


def check_proper(solution):
    """At all times: lower <= upper, one rises and the other falls; the summary is the end of it."""
    lower, upper = (np.array([getattr(state, name) for state in solution.history]) for name in ("lower", "upper"))
    rounding = 1e-6 if isinstance(solution.model, GridSearch) else 1e-12 * np.abs(upper).max()
    assert (lower <= upper + rounding).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    assert (solution.lower, solution.upper) == (lower[-1], upper[-1])
    assert attained(solution) >= solution.lower - 1e-6 * max(1, abs(solution.lower))


def attained(solution):
    """The value of the root by the vectors that are left; after a first look, the mean over what is seen."""
    model = solution.model
    if not model.looks_first:
        return solution.vectors.best(model.root())[1]
    spread = model.spread(model.root())
    return sum(p * solution.vectors.best(model.child(spread, e))[1] for e, p in enumerate(spread.probability))
