"""pymdptoolbox: its Q-learner, on matrices of a clock with the same number of states: a blank, or a whiff."""

import sys

import numpy as np
from mdptoolbox.mdp import QLearning
from world import Search, report

STEPS, WHIFF = 10_000, 0.1


def learn():
    states = Search(sys.argv[1]).states
    clock = np.arange(states)
    moves = np.zeros((4, states, states))
    moves[:, clock, np.minimum(clock + 1, states - 1)] = 1 - WHIFF
    moves[:, clock, 0] += WHIFF
    QLearning(moves, np.random.default_rng(0).random((states, 4)), 0.998, n_iter=STEPS).run()
    return STEPS


report("pymdptoolbox", learn)
