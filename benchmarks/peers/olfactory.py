"""olfactory-navigation: its Q-learner ("learn"), or its agents with a belief ("search"), in the same record of whiffs.

Its grid is as large as that of whiffclock's Bayesian agent. Version 1.0.9 needs two repairs: QAgent lacks
an attribute, and run_test a name that it only has where cupy is installed.
"""

import sys
from types import SimpleNamespace

import numpy as np
from olfactory_navigation import Environment, run_test, simulation
from olfactory_navigation.agents import FSVI_Agent, Infotaxis_Agent, QAgent
from world import Search, report

ACTIONS = np.array([[0, -1], [1, 0], [-1, 0], [0, 1]])  # (y, x)
EPISODES = 60


def environment(world):
    _, length, width = world.whiffs.shape
    margins = [width // 2, length // 2]
    zone = np.zeros((width + 2 * margins[0], length + 2 * margins[1]))
    x, y = np.array(world.cells).T
    zone[y + margins[0], x + margins[1]] = 1 / len(x)
    return Environment(
        world.whiffs.transpose(0, 2, 1).astype(np.float32),
        [world.source_y, world.source_x],
        source_radius=world.radius_squared**0.5,
        margins=margins,
        start_zone=zone,
    )


def learn(world):
    agent = QAgent(environment(world), 0.5, world.horizon, EPISODES, lambda episode: 0.1, lambda episode: 0.4)
    agent.threshold = 0.5
    step, steps = agent._perform_single_step, []

    def counted(*given):
        steps.append(1)
        return step(*given)

    agent._perform_single_step = counted
    agent.train()
    return len(steps)


def search(name, agent, starts, world):
    """Print searches per second, the share that arrived, and the mean number of moves."""
    found = []

    def searched():
        found[:] = [
            run_test(
                agent,
                start_points=starts[:, 1::-1] + agent.environment.margins[:, 0],
                time_shift=starts[:, 2],
                horizon=world.horizon,
                print_progress=False,
                print_stats=False,
            )
        ]
        return len(starts)

    report(name, searched, "searches/s")
    moves = np.where(found[0].done_at_step < 0, world.horizon, found[0].done_at_step)
    print(f"{name}.arrived", found[0].success_count / len(starts), "share")
    print(f"{name}.moves", moves.mean(), "moves")


def main(world, task):
    if task == "learn":
        report("olfactory-navigation", lambda: learn(world))
        return
    simulation.cp = SimpleNamespace(asnumpy=np.asarray)
    place, starts = environment(world), np.load(sys.argv[1])["starts"]
    solved = FSVI_Agent(place, 0.5, actions=ACTIONS)
    solved.train(expansions=10, max_belief_growth=20, print_progress=False, print_stats=False)
    infotaxis = Infotaxis_Agent(place, 0.5, actions=ACTIONS)
    search("olfactory-navigation.fsvi", solved, starts, world)
    search("olfactory-navigation.infotaxis", infotaxis, starts[:16], world)


main(Search(sys.argv[1]), sys.argv[2])
