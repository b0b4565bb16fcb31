"""The step rule, memories and metrics of the page of searches, in lockstep with Python's."""

import base64
import json
import zlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from browser import javascript, script

import whiffclock as wc
from whiffclock.drawing.film import phases, phases_of
from whiffclock.memory import controller
from whiffclock.params import ViewSettings, WorldSettings
from whiffclock.path_metrics import geometry
from whiffclock.viewer.data import contents
from whiffclock.world.loop import modes_of, search
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.reward import discounted_reward
from whiffclock.world.starts import shortest_arrival
from whiffclock.world.worlds import PlumeWorld

SEARCHES, HORIZON, RADIUS = 75, 140, 3.5

#: Every search as numbers, and the metrics of every path.
ANSWER = """
function answer({ about, levels, starts, horizon, paths, cuts }) {
  const bytes = Uint8Array.from(atob(levels), (c) => c.charCodeAt(0));
  const world = new World(about.plume, about.radius, bytes);
  const agents = about.policies.map((one) => new Agent(one, about.memories));
  const numbers = (found) => [found.arrived ? found.moves : 0,
    ...found.moments.flatMap((m) => [m.x, m.y, m.t, m.whiff, m.clock, found.agent.mode(m.node), m.action])];
  const searched = agents.map((agent, a) => about.environments.map(({ level }, e) =>
    starts[a][e].map((start) => numbers(search(world, level, agent, start, Infinity, horizon)).join(" "))));
  const arrivals = agents.map((agent, a) => about.environments.map(({ level }, e) =>
    starts[a][e].map((start) => arrival(world, level, agent, start, horizon))));
  const phased = agents.map((agent, a) => about.environments.map(({ level }, e) =>
    starts[a][e].map((start) => phasesOf(search(world, level, agent, start, Infinity, horizon).moments).join(""))));
  const cut = cuts.map(([a, e, start, at]) =>
    search(world, about.environments[e].level, agents[a], start, at, horizon).moments.map((m) => [m.x, m.y, m.whiff]));
  const names = ["surgeLength", "castWidth", "upwindSearch", "returnLength", "returnStart"];
  return { searched, arrivals, phased, cut, walked: paths.map(phases),
    metrics: paths.map((path) => names.map((name) => geometry(path)[name])),
    programs: agents.map((agent) => agent.memory.modes.map((_, mode) => agent.program(mode, 40))),
    rewards: [0, 1, 7, 100].map((moves) => reward(moves || 500, moves > 0, about.gamma, 500)),
    shortest: about.environments[0].starts.flatMap((x, i, xs) => i % 2 ? [] : [shortest(world, x, xs[i + 1])]) };
}
"""


def random_policy(memory, rng):
    """Random moves, more of them upwind, so that some searches arrive and others leave the grid."""
    actions = rng.choice(4, size=memory.rows, p=[0.46, 0.22, 0.22, 0.1]).astype(np.int8)
    return wc.TablePolicy(memory.name, memory, actions)


def all_policies():
    """One policy for every kind of memory."""
    rng = np.random.default_rng(3)
    nodes = controller(8)
    wired = replace(nodes, next_node=rng.integers(8, size=(8, 2)), maker="", settings=None)
    memories = [
        wc.clock(30), wc.clock(40, (6,)), wc.clock(40, (6,), split_zero=True),
        wc.clock(25, (4, 9), literal_tau=True), wc.window(4, 30), wired,
    ]  # fmt: skip
    return [*(random_policy(memory, rng) for memory in memories), wc.cast_and_surge(30, length=50)]


@pytest.fixture(scope="module")
def page(plume):
    """The data of a page with all policies, as the browser unpacks it."""
    world = plume.settle(WorldSettings(radius=RADIUS))
    policies = all_policies()
    named = [(f"agent {i}", policy) for i, policy in enumerate(policies)]
    blocks = contents(plume, named, world, ViewSettings())
    about, levels = (zlib.decompress(base64.b64decode(blocks[name])) for name in ("about", "plume"))
    return policies, json.loads(about), levels, world


def in_python(policy, plume, at, world, points):
    """Arrival, positions, whiffs, clock readings, modes and moves of each search, as text."""
    place = PlumeWorld(plume.whiffs(at).world(world), np.array(points))
    found, arrived, mode = [[] for _ in points], [0] * len(points), [0] * len(points)
    clock = np.zeros(len(points), dtype=int)
    for moment in search(policy, place, HORIZON):
        for who, where, whiff in zip(moment.arrived, moment.arrived_at, moment.arrived_whiff, strict=True):
            arrived[who] = moment.step
            found[who] += [*where, int(whiff), 0 if whiff else clock[who] + 1, mode[who], -1]
        clock[moment.search] = np.where(moment.whiff, 0, clock[moment.search] + 1)
        moves = zip(moment.search, moment.position, moment.whiff, modes_of(policy, moment), moment.action, strict=True)
        for who, where, whiff, now, action in moves:
            mode[who] = now
            found[who] += [*where, int(whiff), clock[who], now, action]
    return [" ".join(map(str, [end, *path])) for end, path in zip(arrived, found, strict=True)]


def random_walks(rng, count=150):
    """Paths of 0 to 60 moves in runs, so that there are surges and returns among them."""
    moves = [np.repeat(rng.integers(4, size=20), rng.integers(1, 5, size=20))[: rng.integers(61)] for _ in range(count)]
    return [np.concatenate([[[0, 0]], np.cumsum(DISPLACEMENT[one], axis=0)]).astype(int) for one in moves]


def test_searches_are_the_same_in_javascript_and_in_python(page, plume, tmp_path):
    policies, about, levels, world = page
    rng = np.random.default_rng(0)
    shape = plume.field.shape
    ends = np.array([shape[1], shape[2], shape[0]])
    places = [one["threshold"] for one in about["environments"]]
    starts = rng.integers(ends, size=(len(policies), len(places), SEARCHES, 3))
    cuts = [(a, e, starts[a][e][0].tolist(), 15) for a in range(len(policies)) for e in range(len(places))]
    walks = random_walks(rng)
    given = {
        "about": about, "levels": base64.b64encode(levels).decode(), "starts": starts.tolist(), "horizon": HORIZON,
        "paths": [walk.tolist() for walk in walks], "cuts": cuts,
    }  # fmt: skip
    theirs = javascript(script("world", "metrics") + ANSWER, given, tmp_path)

    assert starts[..., 0].size >= 2000
    seen = {"arrived": 0, "failed": 0, "wrapped": 0, "off": 0}
    for a, policy in enumerate(policies):
        for e, at in enumerate(places):
            mine = in_python(policy, plume, at, world, starts[a][e])
            assert theirs["searched"][a][e] == mine
            numbers = [np.array(one.split(), dtype=int) for one in mine]
            assert theirs["arrivals"][a][e] == [one[0] for one in numbers]
            for one, phased in zip(numbers, theirs["phased"][a][e], strict=True):
                x, y, t = (one[1 + i :: 7] for i in range(3))
                found = SimpleNamespace(action=one[7::7], whiff=one[4::7] > 0, moves=len(x) - 1)
                assert phased == "".join(map(str, phases_of(found)))
                seen["arrived" if one[0] else "failed"] += 1
                seen["wrapped"] += bool((np.diff(t) < 0).any())
                seen["off"] += bool(((x < 0) | (y < 0) | (x >= shape[1]) | (y >= shape[2])).any())
        for mode in range(policy.modes):
            path, moves = wc.recovery_path(policy, mode, moves=40), theirs["programs"][a][mode]
            assert np.diff(path, axis=0).tolist() == DISPLACEMENT[moves].tolist()
    assert min(seen.values()) > 100, seen

    for (a, e, start, at), found in zip(cuts, theirs["cut"], strict=True):
        _follow_blanks(policies[a], plume.whiffs(places[e]).world(world), start, at, found)
    for walk, metrics, walked in zip(walks, theirs["metrics"], theirs["walked"], strict=True):
        assert walked == phases(walk).tolist()
        shape = geometry(walk)
        begin = -1 if np.isnan(shape.downwind_return_start) else shape.downwind_return_start
        lengths = [shape.surge_length, shape.cast_width, shape.upwind_search, shape.downwind_return_length]
        assert metrics == [*lengths, begin]
    mine = discounted_reward(np.array([0, 1, 7, 100]), 500, about["gamma"])
    assert theirs["rewards"] == pytest.approx(mine, abs=1e-12)
    cells = plume.starts(places[0], world)
    assert about["environments"][0]["starts"] == cells.ravel().tolist()
    assert theirs["shortest"] == shortest_arrival(cells, plume.source, RADIUS).tolist()


def _follow_blanks(policy, world, start, at, found):
    """A search without odor from move ``at`` on is the same until then, and follows the memory's blanks after it."""
    whole = list(search(policy, PlumeWorld(world, np.array([start])), at))
    for moment, (x, y, whiff) in zip(whole, found, strict=False):
        if len(moment.search):
            assert (x, y, whiff) == (*moment.position[0, :2], moment.whiff[0])
    if len(found) <= at + 1:  # it had ended before
        return
    node, (x, y) = whole[-1].memory[0], found[at][:2]
    for there in found[at + 1 :]:
        dx, dy = DISPLACEMENT[policy.actions[policy.memory.row[node]]]
        x, y, node = x + dx, y + dy, policy.memory.next_node[node, 0]
        assert there == [x, y, 0]


def test_levels_hold_exactly_the_whiffs_of_every_environment(page, plume):
    _, about, levels, _ = page
    held = np.frombuffer(levels, dtype=np.uint8).reshape(plume.field.shape)
    for one in about["environments"]:
        record = plume.whiffs(one["threshold"])
        for t in range(plume.field.shape[0]):
            assert np.array_equal(held[t] >= one["level"], record.snapshot(t))
