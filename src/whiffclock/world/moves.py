"""The moves of a searcher, in the order of the tie rule (R9)."""

import numpy as np

UPWIND, CROSSWIND_PLUS, CROSSWIND_MINUS, DOWNWIND = 0, 1, 2, 3
ACTIONS = ("upwind", "+y", "-y", "downwind")
N_ACTIONS = len(ACTIONS)
#: Displacement (x, y) of each action, in cells; and the same as an array, int64[action, 2].
MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0))
DISPLACEMENT = np.array(MOVES)
