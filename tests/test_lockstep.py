"""The kernels agree with the plain-Python reference, bit for bit, over random worlds."""

import numpy as np
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from trainings import clock_task

from whiffclock.agents.qlearning import Training
from whiffclock.evaluation import EvaluationSettings, evaluate
from whiffclock.memory import clock
from whiffclock.params import LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.policy import TablePolicy
from whiffclock.world.episode import BLOCK
from whiffclock.world.starts import Starts


@st.composite
def worlds(draw):
    """A small random plume with whiffs at threshold 1, and world settings it allows."""
    snapshots = draw(st.integers(2, 9))
    length, width = draw(st.integers(1, 7)), draw(st.sampled_from([1, 2, 5, 32, 33, 70]))
    density = draw(st.sampled_from([0.05, 0.4, 0.9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    field = (rng.random((snapshots, length, width)) < density).astype(np.float32)
    source = (draw(st.integers(0, length - 1)), draw(st.integers(0, width - 1)))
    radius = draw(st.sampled_from([0.0, 1.0, 1.5, 2.0]))
    far = [
        (x, y) for x in range(length) for y in range(width) if (x - source[0]) ** 2 + (y - source[1]) ** 2 > radius**2
    ]
    if not far:
        field = np.concatenate([field, np.zeros((snapshots, 5, width), np.float32)], axis=1)
        far = [(length + 4, 0)]
    field[0, *far[draw(st.integers(0, len(far) - 1))]] = 1.0  # somewhere to start from
    on_whiff = draw(st.booleans())
    world = WorldSettings(radius=radius, start_threshold=None, start_on_whiff=on_whiff)
    return Plume.from_array(field, source), world


@st.composite
def clocks(draw):
    horizon = draw(st.integers(2, 12) | st.sampled_from([BLOCK, 2 * BLOCK + 1]))
    taus = draw(st.lists(st.integers(1, min(horizon - 1, 11)), unique=True, max_size=min(2, horizon - 1)))
    return clock(horizon, tuple(sorted(taus)), draw(st.booleans()), draw(st.booleans()))


def plain(plume, world):
    return reference.World((plume.field >= 1.0).tolist(), plume.source, world.radius)


def plain_memory(memory):
    length, taus, split_zero, literal_tau = memory.settings.values()
    return reference.Memory(length, tuple(taus), split_zero, literal_tau)


@settings(max_examples=1500, deadline=None)
@given(
    worlds(), clocks(), st.integers(0, 2**32), st.booleans(), st.sampled_from([0.3, 1.0]), st.sampled_from([0, 0.9, 1])
)
def test_learning_is_the_reference_bit_for_bit(made, memory, seed, bootstrap, epsilon, trace):
    plume, world = made
    learning = LearningSettings.shortened(
        12, bootstrap_at_horizon=bootstrap, epsilon_start=epsilon, trace=trace, record_last=5, curve_points=4
    )
    training = Training(clock_task(plume, 1.0, memory, learning, world, seed))
    training.advance(5)
    training.advance(100)

    cells = [tuple(cell) for cell in plume.starts(1.0, world).tolist()]
    counter = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    q, counter, records = reference.q_learning(
        plain(plume, world), plain_memory(memory), learning, cells, counter, start_on_whiff=world.start_on_whiff
    )
    assert training.q.tolist() == q
    kept = training.policy().records
    assert len(kept["clock"]) == memory.modes
    for mode, record in enumerate(kept["clock"].tolist()):
        readings = [state for spent_in, state in records.clock_readings if spent_in == mode]
        blanks = [blank for spent_in, blank in records.blanks if spent_in == mode]
        assert record == [
            max(readings, default=0), sum(readings), len(readings), max(blanks, default=0), sum(blanks), len(blanks),
        ]  # fmt: skip
    assert kept["usage"].tolist() == records.usage
    assert kept["curve"][:, 3].tolist() == [
        sum(steps for steps, _ in records.returns[i : i + 3]) / 3 for i in range(0, 12, 3)
    ]
    assert kept["curve"][:, 2].tolist() == [
        sum(arrived for _, arrived in records.returns[i : i + 3]) / 3 for i in range(0, 12, 3)
    ]


class Opaque:
    """A clock policy that hides what it is, so that evaluation must go through the general face."""

    def __init__(self, policy):
        self.name, self.modes, self.threshold, self.made_from = policy.name, policy.modes, None, {}
        self.begin, self.act, self.observe, self.mode = policy.begin, policy.act, policy.observe, policy.mode
        self.select = policy.select


@settings(max_examples=1500, deadline=None)
@given(worlds(), clocks(), st.integers(0, 2**32), st.integers(1, 30))
def test_search_is_the_reference(made, memory, seed, horizon):
    plume, world = made
    rng = np.random.default_rng(seed)
    policy = TablePolicy("random", memory, rng.integers(0, 4, memory.rows).astype(np.int8))
    cells = plume.starts(1.0, world)
    points = np.column_stack([cells, rng.integers(0, len(plume.field), len(cells))]).astype(np.int32)
    starts = Starts(points, np.zeros(len(points), dtype=np.int64), np.ones(len(points)))
    how = EvaluationSettings(horizon=horizon)
    seen = evaluate(policy, plume, 1.0, world, how, starts)
    general = evaluate(Opaque(policy), plume, 1.0, world, how, starts)

    occupancy = np.zeros_like(seen.occupancy)
    for i, start in enumerate(points.tolist()):
        arrival, last_whiff, per_mode, visited = reference.search(
            plain(plume, world), plain_memory(memory), policy.actions.tolist(), start, horizon
        )
        assert seen.arrival[i] == arrival
        assert seen.mode_steps[i].tolist() == per_mode
        if last_whiff is None:
            assert seen.last_whiff[i, 2] == -1
        else:
            assert tuple(seen.last_whiff[i].tolist()) == last_whiff
        for mode, x, y in visited:
            if 0 <= x < plume.field.shape[1] and 0 <= y < plume.field.shape[2]:
                occupancy[mode, x, y] += 1
    assert (seen.occupancy == occupancy).all()
    for name, values in seen.arrays().items():
        assert (values == general.arrays()[name]).all(), name
