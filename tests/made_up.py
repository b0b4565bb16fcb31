"""Small made-up results, in the layout that the docstrings of ``whiffclock.experiments`` tell."""

import numpy as np

from whiffclock.evaluate import METRICS
from whiffclock.experiments.measures import GEOMETRY
from whiffclock.experiments.results import Result
from whiffclock.params import ENVIRONMENTS
from whiffclock.recovery import MOVES

E, A, T, M, G, H, X, Y = 4, 5, 3, len(METRICS), len(GEOMETRY), 40, 30, 9
TRUNCATIONS = ["none", "largest void state", "mean void state", "longest blank", "mean blank"]
CONDITIONS = ["on a whiff, own mask", "on a whiff, one mask", "any time, own mask", "any time, one mask"]

FACTS = {
    "environments": list(ENVIRONMENTS),
    "thresholds": list(ENVIRONMENTS.values()),
    "metrics": list(METRICS),
    "geometry": list(GEOMETRY),
    "seeds": A,
    "episodes": 1000,
    "snapshots": T,
    "horizon": H,
    "source": [0, 4],
    "searches": 120,
    "tau": [1, 2, 3, 8],
    "heuristic_tau": 10,
}


def results(*, branches=True, failures=True, returns=True, walks=True):
    """All figures' results, with or without a Bayesian agent, failed searches, returns and paths of any length."""
    makers = (fig1, fig2, fig3, fig4, fig5, fig6, fig7, fig8, s1, s2, s3, s4, s5)
    case = Case(branches, failures, returns, walks)
    return {maker.__name__: Result(maker.__name__, *maker(case)) for maker in makers}


class Case:
    """Random arrays; what is not there is NaN, zero or empty."""

    def __init__(self, branches, failures, returns, walks):
        self.branches, self.failures, self.returns, self.walks = branches, failures, returns, walks
        self.rng = np.random.default_rng(5)

    def performance(self, *shape):
        return 0.5 + 0.4 * self.rng.random((*shape, M))

    def geometry(self, *shape):
        values = self.rng.integers(1, 20, (*shape, G)).astype(float)
        absent = self.rng.random(shape) < 0.3 if self.returns else np.ones(shape, dtype=bool)
        values[..., -1][absent] = np.nan
        return values

    def lost(self, *shape):
        return self.rng.integers(0, 4, (*shape, X)).astype(float) * self.failures

    def path(self, *shape, whole=False):
        moves = MOVES[self.rng.choice(4, (*shape, H), p=[0.4, 0.25, 0.2, 0.15])]
        paths = np.concatenate([np.zeros((*shape, 1, 2)), moves.cumsum(axis=-2)], axis=-2).astype(np.float32)
        if not self.walks:
            paths[..., 1:, :] = np.nan
        elif not whole:
            paths[..., 25:, :] = np.nan
        return paths


def fig1(case):
    curve = np.stack(np.broadcast_arrays(np.arange(1, 21) * 50.0, *case.rng.random((3, E, A, 20))), axis=-1)
    x = np.arange(20, 1, -1)
    clock = np.arange(len(x)) % 4
    field = case.rng.random((X, Y)) * 1e-5
    arrays = {
        "snapshot": field,
        "whiffs": np.stack([field >= threshold for threshold in ENVIRONMENTS.values()]).astype(float),
        "probability": case.rng.random((E, X, Y)),
        "mask": np.ones((X, Y)),
        "search": np.stack([x, np.full(len(x), 4), clock == 0, clock], axis=1).astype(float),
        "curve_single": curve,
        "curve_two": curve[:, ::-1],
    }
    told = {"snapshot": 7, "radius": 2.0, "search_environment": "sparse", "search_arrived": True, "start_cells": 40}
    return arrays, FACTS | told


def fig2(case):
    bayes = np.stack([case.performance(E), np.full((E, M), 0.01)], axis=-1)
    arrays = {kind: case.performance(E, A) for kind in ("single", "two", "heuristic")}
    arrays |= {"cast": np.stack([case.performance(E), np.full((E, M), 0.01)], axis=-1), "bayes": bayes}
    arrays["cast_angle"] = np.array([45.0, 40, 30, 15])
    return arrays, FACTS | {"bayes_starts": 30}


def fig3(case):
    arrays = {"geometry": case.geometry(E, A), "steps": np.full((E, A), 24.0), "path": case.path(E)}
    arrays |= {"lost": case.lost(E, A), "G": case.performance(E, A)[..., 0]}
    arrays["failures"] = arrays["lost"].sum(axis=-1)
    return arrays, FACTS | {"best": [0] * E, "truncation": TRUNCATIONS[1]}


def fig4(case):
    arrays = {}
    for kind in ("single", "two"):
        arrays[f"lost_{kind}"] = lost = case.lost(E, E, A)
        arrays[f"failures_{kind}"] = lost.sum(axis=-1)
        arrays[f"G_{kind}"] = case.performance(E, E, A)[..., 0]
    return arrays, FACTS


def fig5(case):
    arrays = {"tau": np.array([1.0, 2, 3, 8]), "share": case.rng.random((E, A))}
    return arrays, FACTS | {"states": 2 * H - 1, "shared_whiff_state": case.walks}


def fig6(case):
    decisions = case.rng.integers(0, 9, (E, 2, X, Y)).astype(float) * case.walks
    total = decisions.sum(axis=1)
    usage = np.where(total > 0, decisions[:, 1] / np.maximum(total, 1), np.nan)
    blank = np.exp(case.rng.random((E, X, Y)) * 6) if case.walks else np.full((E, X, Y), np.nan)
    arrays = {"blank": blank, "decisions": decisions, "usage": usage, "share": case.rng.random((E, A))}
    return arrays, FACTS | {"contours": [5, 10, 25, 50, 100, 200]}


def fig7(case):
    arrays = {kind: case.geometry(E, A) for kind in ("single", "minus", "plus")}
    arrays |= {"path": case.path(E, 2), "path_heuristic": case.path(2)}
    for kind in ("two", "minus", "plus"):
        arrays[f"lost_{kind}"] = lost = case.lost(E, A)
        arrays[f"failures_{kind}"] = lost.sum(axis=-1)
        arrays[f"performance_{kind}"] = case.performance(E, A)
    return arrays, FACTS | {"best": [0] * E, "best_heuristic": 0, "heuristic_from": ["dense", "sparse"]}


def fig8(case):
    arrays = {}
    for name in ENVIRONMENTS:
        branches = 50 * case.branches
        arrays[f"geometry_{name}"] = case.geometry(branches)
        arrays[f"weight_{name}"] = np.exp(3 * case.rng.normal(size=branches))
    return arrays, FACTS | {"trials": 10, "backups": 300}


def s1(case):
    return {"single": case.performance(E, E, A), "two": case.performance(E, E, A)}, FACTS


def s2(case):
    arrays = {kind: case.geometry(5, E, A) for kind in ("single", "minus", "plus")}
    arrays |= {f"steps_{kind}": case.rng.integers(1, H, (5, E, A)).astype(float) for kind in ("single", "two")}
    return arrays, FACTS | {"truncations": TRUNCATIONS, "main": 1}


def s3(case):
    arrays = {"tau": np.array([1.0, 3, 8, 20]), "share": case.rng.random((E, 4, 2))}
    arrays |= {"performance": case.performance(E, 4, 2), "chosen": np.array([1.0, 3, 3, 8])}
    return arrays, FACTS | {"scan_seeds": 2, "scan_episodes": 500}


def s4(case):
    arrays = {kind: case.path(E, A, whole=True) for kind in ("single", "minus", "plus")}
    for kind in ("single", "two"):
        arrays[f"steps_{kind}"] = np.full((E, A), 24.0)
        arrays[f"G_{kind}"] = case.performance(E, A)[..., 0]
    return arrays, FACTS


def s5(case):
    arrays = {"geometry": case.geometry(4, E, A), "steps": np.full((4, E, A), 24.0)}
    arrays["start_cells"] = np.full((4, E), 40.0)
    return arrays, FACTS | {"conditions": CONDITIONS, "main": 3}
