"""Beliefs obey the laws of probability, whatever the world; the agent on them is the one in plain Python."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from whiffclock.agents import bayes
from whiffclock.agents.bayes import (
    BLANK,
    WHIFF,
    BayesSettings,
    BeliefPolicy,
    conditional_chances,
    discounted_rewards,
    search_model,
)
from whiffclock.agents.beliefs import by_infotaxis, by_qmdp, by_space_aware_infotaxis, by_vectors
from whiffclock.evaluation import evaluate
from whiffclock.params import EvaluationSettings, WorldSettings
from whiffclock.pomdp import gridsearch
from whiffclock.pomdp.gridsearch import GridSearch
from whiffclock.world.moves import MOVES
from whiffclock.world.starts import Starts

SINGLE = {"rtol": 2e-5, "atol": 2e-6}
quick = settings(max_examples=60, deadline=None)
UPWIND, UP, DOWN, DOWNWIND = range(4)


def made(seed, symmetric=False, floor=1e-3):
    """A random search on a small grid, and the generator that made it."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 9)), int(rng.integers(0, 3)) * 2 + 1 if symmetric else int(rng.integers(1, 7))
    target = np.zeros(shape, bool)
    target[rng.integers(shape[0]), shape[1] // 2 if symmetric else rng.integers(shape[1])] = True
    if shape[0] * shape[1] > 8 and rng.random() < 0.5:
        target[0, shape[1] // 2] = True  # a second piece
    chance = rng.random(shape) ** 3
    initial = rng.random(shape) * (rng.random(shape) < 0.7) * ~target
    initial[~target] += 1e-3
    if symmetric:
        chance, initial = chance + chance[:, ::-1], initial + initial[:, ::-1]
        chance /= 2
    chance = np.clip(chance, floor, 1 - floor)
    return GridSearch(np.stack([1 - chance, chance]), target, initial / initial.sum(), MOVES, 0.9), rng


def wander(model, rng, steps):
    """The belief after some random moves and possible observations; None if the target is surely found."""
    belief = model.root()
    for _ in range(steps):
        spread = model.spread(belief)
        possible = np.flatnonzero(spread.probability > 1e-3)
        if not len(possible):
            return None
        belief = model.child(spread, int(rng.choice(possible)))
    return belief


def on_grid(model, belief):
    """A belief as weights on the grid; a cell may be listed twice."""
    return np.bincount(belief.cells, belief.weights, model.target.size).reshape(model.target.shape)


def moved(model, weights, action):
    """The whole mass after a move, by clipping positions one by one; with what has arrived."""
    length, width = weights.shape
    out = np.zeros_like(weights)
    for x in range(length):
        for y in range(width):
            to = min(max(x + MOVES[action][0], 0), length - 1), min(max(y + MOVES[action][1], 0), width - 1)
            out[to] += weights[x, y]
    return np.where(model.target, 0, out), float(out[model.target].sum())


@quick
@given(st.integers(0, 2**32), st.integers(0, 6))
def test_children_are_the_moved_belief_taken_apart(seed, steps):
    model, rng = made(seed)
    belief = wander(model, rng, steps)
    if belief is None:
        return
    assert belief.weights.sum(dtype=float) == pytest.approx(1, abs=1e-5)
    assert not model.in_target[belief.cells].any()
    spread = model.spread(belief)
    for action in range(4):
        weights, arrived = moved(model, on_grid(model, belief), action)
        both = [action * 2 + BLANK, action * 2 + WHIFF]
        np.testing.assert_allclose(spread.reward[action], arrived, **SINGLE)
        assert spread.reward[action] + spread.probability[both].sum() == pytest.approx(1, abs=1e-5)
        mixture = np.zeros_like(weights)
        for edge in both:
            expected = weights * model.likelihood[edge % 2]  # what arrived is out before the correction
            np.testing.assert_allclose(spread.probability[edge], expected.sum(), **SINGLE)
            if spread.probability[edge] > 0:
                child = model.child(spread, edge)
                assert child.weights.sum(dtype=float) == pytest.approx(1, abs=1e-5)
                np.testing.assert_allclose(on_grid(model, child), expected / expected.sum(), **SINGLE)
                mixture += spread.probability[edge] * on_grid(model, child)
        np.testing.assert_allclose(mixture, weights, **SINGLE)


@quick
@given(st.integers(0, 2**32), st.integers(0, 5))
def test_the_mirror_image_of_a_belief_has_mirrored_children(seed, steps):
    model, rng = made(seed, symmetric=True)
    belief = wander(model, rng, steps)
    if belief is None:
        return
    mirrored = model.belief(on_grid(model, belief)[:, ::-1])
    one, other = model.spread(belief), model.spread(mirrored)
    swap = {UPWIND: UPWIND, UP: DOWN, DOWN: UP, DOWNWIND: DOWNWIND}
    for action, image in swap.items():
        assert one.reward[action] == pytest.approx(other.reward[image], abs=1e-5)
        for o in (BLANK, WHIFF):
            if one.probability[action * 2 + o] > 1e-6:
                there = on_grid(model, model.child(one, action * 2 + o))
                image_there = on_grid(model, model.child(other, image * 2 + o))
                np.testing.assert_allclose(there[:, ::-1], image_there, **SINGLE)


def test_a_step_worked_by_hand():
    """Five cells in a row, target at 0, p(whiff) = .1 .5 .2 .4 .8, belief (., .2, .3, .5, 0)."""
    chance = np.array([0.1, 0.5, 0.2, 0.4, 0.8])[:, None]
    target = np.array([1, 0, 0, 0, 0], bool)[:, None]
    initial = np.array([0, 0.2, 0.3, 0.5, 0])[:, None]
    model = GridSearch(np.stack([1 - chance, chance]), target, initial, MOVES, 0.9)
    spread = model.spread(model.root())
    # Upwind: .2 arrives; .3 stands at 1 and .5 at 2. A whiff there has .3 * .5 + .5 * .2 = .25.
    assert spread.reward.tolist() == pytest.approx([0.2, 0, 0, 0])
    assert spread.probability[UPWIND * 2 + WHIFF] == pytest.approx(0.25)
    after = on_grid(model, model.child(spread, UPWIND * 2 + WHIFF)).ravel()
    assert after.tolist() == pytest.approx([0, 0.6, 0.4, 0, 0])
    # Downwind: 2, 3, 4 hold .2, .3, .5; the whiff is weighed where the searcher is now, not where it was.
    after = on_grid(model, model.child(spread, DOWNWIND * 2 + WHIFF)).ravel()
    assert after.tolist() == pytest.approx([0, 0, 0.04 / 0.56, 0.12 / 0.56, 0.4 / 0.56])
    # Across there is no room: it stays, and so does the belief before the blank weighs it.
    after = on_grid(model, model.child(spread, UP * 2 + BLANK)).ravel()
    assert after.tolist() == pytest.approx([0, 0.1 / 0.64, 0.24 / 0.64, 0.3 / 0.64, 0])
    # And the best first move, if the next position were known: .2 + .9 * (.3 + .5 * .9) against the others.
    assert model.known_value.tolist() == pytest.approx([0, 1, 0.9, 0.81, 0.729])
    assert model.distance.tolist() == pytest.approx([0, 1, 2, 3, 4])


def moved_once(model, value, actions):
    """Value of the best of some actions, if ``value`` follows it and nothing is observed."""
    to = model.successor[:, actions]
    following = np.where(to < 0, 1.0, model.discount * value[to])
    return np.where(model.in_target, 0.0, following.max(axis=1))


@quick
@given(st.integers(0, 2**32))
def test_first_bounds_are_those_of_value_iteration(seed):
    """To the bit: the value of known positions, and blind policies with a sidestep of up to half the width."""
    model, _ = made(seed)
    length, width = model.target.shape

    def settled(actions):
        value = np.zeros(model.target.size)
        for _ in range(length + width):
            value = moved_once(model, value, actions)
        return value

    blind = []
    for action in range(4):
        blind.append(settled([action]))
        for side in (UP, DOWN) if action in (UPWIND, DOWNWIND) else ():
            value = settled([action])
            for _ in range(width // 2):
                value = moved_once(model, value, [side])
                blind.append(value)
    assert np.array_equal(model.known_value, settled([0, 1, 2, 3]))
    assert np.array_equal(model.vectors().array(), np.float32(blind))


def test_fewer_blind_policies_still_arrive_from_everywhere(monkeypatch):
    x, y = np.arange(-12, 13)[:, None], np.arange(-23, 24)
    target, nowhere = x**2 + y**2 <= 4, np.zeros((25, 47))
    initial = ~target / (~target).sum()
    model = GridSearch(np.stack([1 - nowhere, nowhere]), target, initial, MOVES, 0.9)
    every = len(model.vectors())
    monkeypatch.setattr(gridsearch, "_BLIND_BYTES", 1)
    vectors = model.vectors()
    assert (every, len(vectors)) == (4 + 4 * 23, 4 + 4 * 5)
    assert (vectors.array().max(axis=0) > 0).tolist() == (~model.in_target).tolist()


def test_a_move_off_the_border_stays():
    model, _ = made(3)
    length, width = model.target.shape
    corner = np.zeros((length, width))
    corner[length - 1, width - 1] = 1
    assert not model.target[length - 1, width - 1]
    spread = model.spread(model.belief(corner))
    for action in (DOWNWIND, UP):
        for o in (BLANK, WHIFF):
            assert on_grid(model, model.child(spread, action * 2 + o)).tolist() == corner.tolist()


def test_a_stray_whiff_leaves_a_proper_belief(plume):
    """Where the record never had a whiff, one weighs all cells alike: it says nothing, and breaks nothing."""
    model = search_model(plume, 5e-6, BayesSettings(floor=1e-3))
    length, width = model.target.shape
    never = np.isclose(model.likelihood[WHIFF], 1e-3)
    assert never.any()
    somewhere = np.zeros((length, width))
    somewhere[length // 2 - 9 : length // 2 - 6, 0:3] = 1 / 9  # upwind of the source
    assert never[length // 2 - 10 : length // 2 - 5, 0:4].all()
    policy = BeliefPolicy("QMDP", model, by_qmdp)
    root = model.belief(somewhere)
    memory = policy.unobserved(1)
    memory = policy._decided(memory.who, np.array([0]), np.array([9]), root.cells, root.weights, memory.last)
    memory = policy.observe(memory, np.array([UPWIND]), np.array([True]))
    after = on_grid(model, memory.one(0))
    expected, _ = moved(model, somewhere, UPWIND)
    np.testing.assert_allclose(after, expected, **SINGLE)
    assert 0 < search_model(plume, 5e-6, BayesSettings(floor=1e-3)).likelihood.min() < 0.0011
    assert search_model(plume, 5e-6, BayesSettings(floor=0)).likelihood.min() == 0


def random_vectors(model, rng, n=12):
    vectors = model.vectors()
    for _ in range(n):
        vectors.add(0, 2 + rng.random(model.target.size), int(rng.integers(4)))  # above the blind policies
    return vectors


def policies(model, rng):
    choices = [by_vectors(random_vectors(model, rng)), by_qmdp, by_infotaxis, by_space_aware_infotaxis]
    return [BeliefPolicy(f"choice {i}", model, choice) for i, choice in enumerate(choices)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_many_searches_are_as_each_alone(seed):
    model, rng = made(seed)
    n, steps = 7, 5
    whiffs = rng.random((steps + 1, n)) < 0.4
    moves = rng.integers(0, 4, (steps, n))
    for policy in policies(model, np.random.default_rng(seed)):
        alone = [policy.begin(whiffs[0, i : i + 1]) for i in range(n)]
        memory, left = policy.begin(whiffs[0]), np.arange(n)
        for step in range(steps):
            for i, own in enumerate(left):
                shared, single = memory.one(memory.who[i]), alone[own].one(alone[own].who[0])
                assert shared.cells.tolist() == single.cells.tolist()
                assert shared.weights.tolist() == single.weights.tolist()
                assert policy.act(memory)[i] == policy.act(alone[own])[0]
            histories = {tuple(whiffs[: step + 1, i]) + tuple(moves[:step, i]) for i in left}
            assert len(memory.start) == (len(histories) if step else 2)
            if step == 2:  # some searches end: nothing changes for the others
                rows = np.array([5, 1, 6, 2])
                memory, left = policy.select(memory, rows), left[rows]
                assert policy.act(memory).tolist() == [policy.act(alone[i])[0] for i in left]
            memory = policy.observe(memory, moves[step, left], whiffs[step + 1, left])
            for i in left:
                alone[i] = policy.observe(alone[i], moves[step, i : i + 1], whiffs[step + 1, i : i + 1])


def test_searches_in_small_parts_are_the_same(plume, monkeypatch):
    model = search_model(plume, 5e-6)
    policy, how = BeliefPolicy("QMDP", model, by_qmdp), EvaluationSettings(snapshots=1, horizon=20)
    assert policy.at_once > len(model.root().cells)
    together = evaluate(policy, plume, 5e-6, settings=how)
    monkeypatch.setattr(bayes, "_ROOM", 32 * 50 * len(model.root().cells))
    assert policy.at_once == 50
    assert evaluate(policy, plume, 5e-6, settings=how) == together


def test_equal_histories_share_one_belief():
    model, _ = made(5)
    policy = BeliefPolicy("QMDP", model, by_qmdp)
    memory = policy.begin(np.zeros(6, bool))
    assert set(memory.who.tolist()) == {0}
    memory = policy.observe(memory, np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1, 0, 0, 1, 0], bool))
    assert len(memory.start) == 4
    assert memory.who[[0, 2]].tolist() == memory.who[[5, 3]].tolist()
    chosen = policy.select(memory, np.array([2, 3]))
    assert len(chosen.start) == 1
    assert chosen.one(0).weights.tolist() == memory.one(memory.who[2]).weights.tolist()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_searches_in_a_plume_are_the_reference(plume, seed):
    """The agent in plain Python, in the world's own steps, from random starts; radius, floor, likelihoods vary."""
    rng = np.random.default_rng(seed)
    world = WorldSettings(radius=float(rng.choice([1.0, 2.0])))
    threshold, horizon, floor = 5e-6, 25, float(rng.choice([1e-3, 0.02]))
    assumed = BayesSettings(floor=floor, likelihood=str(rng.choice(["independent", "conditional"])))
    model = search_model(plume, threshold, assumed, world)
    vectors, chances = random_vectors(model, rng), conditional_chances(plume, threshold, assumed)
    policy = BeliefPolicy("random vectors", model, by_vectors(vectors), conditional=chances)
    cells = plume.starts(threshold, world)
    points = np.column_stack([cells, rng.integers(0, 200, len(cells))])[rng.permutation(len(cells))[:4]]
    starts = Starts(points.astype(np.int32), np.zeros(4, dtype=np.int64), np.ones(4))
    seen = evaluate(policy, plume, threshold, world, EvaluationSettings(horizon=horizon), starts)

    length, width = plume.field.shape[1:]
    whiffs = plume.field >= threshold
    chance = np.full((2 * length - 1, 2 * width - 1), floor)
    initial = []
    for x in range(length):
        for y in range(width):
            to = x - plume.source[0] + length - 1, y - plume.source[1] + width - 1
            chance[to] = min(max(whiffs[:, x, y].mean(), floor), 1 - floor)
    for x, y in cells.tolist():
        initial.append((x - plume.source[0] + length - 1, y - plume.source[1] + width - 1, 1 / len(cells)))
    values = vectors.array().reshape(-1, *chance.shape).tolist()
    pairs = list(zip(vectors.actions().tolist(), values, strict=True))
    agent = reference.Believer(chance.tolist(), (length - 1, width - 1), world.radius, pairs, initial)
    agent.conditional = None if chances is None else chances.tolist()
    plain = reference.World(whiffs.tolist(), plume.source, world.radius)
    occupancy = np.zeros_like(seen.occupancy)
    searches = [reference.believing_search(plain, agent, start, horizon) for start in points.tolist()]
    assume(agent.margin > 1e-5)  # closer vectors cannot be told apart in single precision
    for i, (arrival, last_whiff, visited) in enumerate(searches):
        assert seen.arrival[i] == arrival
        assert seen.last_whiff[i, 2] == (-1 if last_whiff is None else last_whiff[2])
        if last_whiff is not None:
            assert tuple(seen.last_whiff[i].tolist()) == last_whiff
        assert seen.mode_steps[i, 0] == len(visited)
        for x, y in visited:
            if 0 <= x < length and 0 <= y < width:
                occupancy[0, x, y] += 1
    assert (seen.occupancy == occupancy).all()


def plain_scores(model, belief):
    """What each choice minimises, for every action."""
    spread = model.spread(belief)
    scores = {by_qmdp: [], by_infotaxis: [], by_space_aware_infotaxis: []}
    for action in range(4):
        after, arrived = moved(model, on_grid(model, belief), action)
        scores[by_qmdp].append(-(arrived + 0.9 * float(after.ravel() @ model.known_value)))
        entropies = measures = 0.0
        for edge in (2 * action, 2 * action + 1):
            if spread.probability[edge] == 0:
                continue
            p = on_grid(model, model.child(spread, edge)).ravel()
            entropy = -float(sum(q * np.log2(q) for q in p if q > 0))
            entropies += spread.probability[edge] * entropy
            measures += spread.probability[edge] * np.log2(float(p @ model.distance) + (2**entropy - 1) / 2)
        scores[by_infotaxis].append(entropies)
        scores[by_space_aware_infotaxis].append(measures)
    return scores


def test_the_cheap_choices_are_their_definitions():
    chosen = []
    for seed in range(30):
        model, rng = made(seed)
        belief = wander(model, rng, 2)
        if belief is None:
            continue
        alone = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([len(belief.cells)])
        row = []
        for choice, scores in plain_scores(model, belief).items():
            action = BeliefPolicy("x", model, choice)._decided(*alone, belief.cells, belief.weights, alone[0]).action[0]
            assert scores[action] == pytest.approx(min(scores), abs=1e-5), choice.__name__
            row.append(int(action))
        chosen.append(row)
    assert len(chosen) > 20
    for one in range(3):  # the cases tell the three apart
        assert any(row[one] != row[one - 1] for row in chosen)


def test_rewards_of_a_search_without_doubt():
    """The position is known and the way is straight: paid at the third step, discounted twice."""
    target = np.zeros((7, 1), bool)
    target[3] = True
    start = np.zeros((7, 1))
    start[6] = 1
    model = GridSearch(np.full((2, 7, 1), 0.5), target, start, MOVES, 0.9)
    assert discounted_rewards(BeliefPolicy("QMDP", model, by_qmdp), repeats=3).tolist() == pytest.approx([0.81] * 3)


def test_a_search_that_has_excluded_everything_begins_anew():
    """One cell before the target, sure to arrive, and it does not: there is nothing left to believe."""
    target = np.zeros((5, 3), dtype=bool)
    target[2, 1] = True
    initial = np.zeros((5, 3))
    initial[3, 1] = 1.0
    likelihood = np.stack([np.full((5, 3), 0.6), np.full((5, 3), 0.4)])
    model = GridSearch(likelihood, target, initial, ((-1, 0), (0, 1), (0, -1), (1, 0)))
    policy = BeliefPolicy("QMDP", model, by_qmdp)
    memory = policy.begin(np.zeros(2, dtype=bool))
    after = policy.observe(memory, np.array([0, 3]), np.zeros(2, dtype=bool))
    lost, moved = (after.one(int(k)) for k in after.who)
    assert (lost.cells.tolist(), lost.weights.tolist()) == ([3 * 3 + 1], [1.0])
    assert moved.cells.tolist() == [4 * 3 + 1]


def test_many_searches_that_begin_anew_share_one_root():
    """More beliefs than there is room for side by side: each still gets the best vector of its own cells."""
    model, rng = made(8, floor=0)
    vectors = random_vectors(model, rng, 200)
    root, lost = model.root(), np.arange(40) % 4 != 0
    other = model.belief(np.where(model.target, 0, rng.random(model.target.shape)))
    start = np.where(lost, len(other.cells), 0)
    size = np.where(lost, len(root.cells), len(other.cells))
    cells, weights = np.append(other.cells, root.cells), np.append(other.weights, root.weights).astype(float)
    index = vectors.choose(start, size, cells, weights, 0.0)
    values = [vectors.value(root if anew else other, int(i)) for anew, i in zip(lost, index, strict=True)]
    best = [vectors.best(belief)[1] for belief in (other, root)]
    np.testing.assert_allclose(values, np.take(best, lost.astype(int)), **SINGLE)


@pytest.mark.parametrize("choice", [by_infotaxis, by_space_aware_infotaxis, "vectors"])
def test_two_threads_on_one_model_do_not_disturb_each_other(plume, choice):
    model = search_model(plume, 5e-6)
    if choice == "vectors":
        choice = by_vectors(random_vectors(model, np.random.default_rng(0), 70))
    policy = BeliefPolicy("either", model, choice)

    def rewards(seed):
        return discounted_rewards(policy, steps=6, seed=seed)

    def values(seed):
        belief, vectors, found = wander(model, np.random.default_rng(seed), 3), model.vectors(), []
        for _ in range(300):
            spread = model.spread(belief)
            found += [spread.probability.sum(), vectors.best(belief)[1]]
        return found

    for work in (rewards, values):
        alone = [work(seed) for seed in range(4)]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(work, range(4)))
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)
