"""Hand-made results in which every claim holds, and what to change so that one does not."""

import numpy as np
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, GEOMETRY
from whiffclock.experiments.reproduce import FIGURES
from whiffclock.experiments.results import Result

from whiffclock.evaluate import METRICS
from whiffclock.geometry import Truncation
from whiffclock.params import ENVIRONMENTS

LENGTH, WIDTH, SEARCHES = 40, 9, 1000
TRUNCATIONS = Truncation.__args__
CONDITIONS = ["on a whiff, own mask", "on a whiff, one mask", "any time, own mask", "any time, one mask"]
SURGE, CAST, UPWIND, BACK, AFTER, INITIATION = range(len(GEOMETRY))
#: Typical geometry in each environment: what must grow grows for sure, what is weak overlaps.
GROWING = {SURGE: (4, 8, 12, 16), UPWIND: (20, 30, 40, 50), INITIATION: (60, 90, 120, 150)}


def as_in_the_paper(n=12, strata=8, branches=60):
    """Results of every figure: ``n`` agents per ensemble; all claims hold if n is not small."""
    rng = np.random.default_rng(5)
    arrays = {figure: {} for figure in FIGURES}
    arrays["fig1"] = _setting(n)
    arrays["fig2"] = _performance(n, strata, rng)
    arrays["fig3"] = {
        "geometry": geometry(n, rng),
        "lost": _lost((4, n), (3, 5, 7, 9)),
        "failures": np.full((4, n), 40.0),
        "G": np.full((4, n), 0.7),
    }
    arrays["fig4"] = _generalization(n, rng)
    arrays["fig6"] = _usage(n)
    arrays["fig7"] = _modes(n, rng)
    for name in ENVIRONMENT_NAMES:
        arrays["fig8"][f"geometry_{name}"] = _histories(branches, ENVIRONMENT_NAMES.index(name), rng)
        arrays["fig8"][f"weight_{name}"] = np.ones(branches)
    arrays["s2"] = {"single": np.stack([geometry(n, rng) for _ in TRUNCATIONS])}
    arrays["s3"] = {
        "tau": np.arange(1.0, 10),
        "strata": 0.7 + rng.normal(0, 0.01, (4, 9, -(-n // 3), strata, len(METRICS))),
    }
    if n < 5:
        arrays["s3"]["strata"] = arrays["s3"]["strata"][:, :, :1]
    arrays["s5"] = {"geometry": np.stack([geometry(n, rng) for _ in CONDITIONS])}
    return {figure: Result(figure, made, _facts()) for figure, made in arrays.items()}


def _facts():
    return {
        "environments": list(ENVIRONMENT_NAMES),
        "thresholds": list(ENVIRONMENTS.values()),
        "metrics": list(METRICS),
        "geometry": list(GEOMETRY),
        "searches": SEARCHES,
        "source": [0, WIDTH // 2],
        "truncations": list(TRUNCATIONS),
        "conditions": CONDITIONS,
        "main": 1,
    }


def geometry(n, rng):
    """float[e, a, g]: three clear trends, two weak ones."""
    made = np.zeros((4, n, len(GEOMETRY)))
    for column, typical in GROWING.items():
        made[..., column] = np.array(typical)[:, None] + rng.integers(-2, 3, (4, n))
    ranks = np.arange(n) / n
    made[..., CAST] = 50 + 40 * ranks + 4.5 * np.arange(4)[:, None]
    made[..., BACK] = 90 - 40 * ranks - 4.5 * np.arange(4)[:, None]
    made[-1, :2, INITIATION] = np.nan
    return made


def _setting(n):
    curve = np.zeros((4, n, 100, 4))
    curve[..., 1] = 0.7 * np.minimum(1, np.arange(100) / 83)  # rises for as long as there is exploration
    probability = np.full((4, LENGTH, WIDTH), 0.25) / np.arange(1, 5)[:, None, None]
    return {"curve_single": curve, "probability": probability, "mask": np.ones((LENGTH, WIDTH))}


def _performance(n, strata, rng):
    def ensemble(levels, arrivals=0.99):
        made = np.zeros((4, n, strata, len(METRICS)))
        made[..., 0] = np.array(levels)[:, None, None] + rng.normal(0, 0.004, (4, n, 1)) + rng.normal(0, 0.004, strata)
        made[..., 2] = arrivals
        return made

    cast, bayes = np.zeros((2, 4, strata, len(METRICS)))
    cast[..., 0], bayes[..., 0] = 0.5, 0.75 + rng.normal(0, 0.004, strata)
    made = {"single_strata": ensemble([0.7] * 4), "two_strata": ensemble([0.69, 0.69, 0.75, 0.75])}
    made["heuristic_strata"] = ensemble([0.69] * 4)
    made |= {kind: made[f"{kind}_strata"].mean(axis=2) for kind in ("single", "two", "heuristic")}
    made |= {"cast_strata": cast, "cast": np.stack([cast.mean(axis=1)] * 2, axis=2)}
    made |= {"bayes_strata": bayes, "bayes": np.stack([bayes.mean(axis=1)] * 2, axis=2)}
    return made | {"single_on_bayes_starts": made["single_strata"]}


def _lost(shape, places):
    """Forty failures of each agent, around a place in each environment."""
    lost = np.zeros((*shape, LENGTH))
    for e, place in enumerate(places):
        lost[e, ..., place - 1 : place + 2] = [10, 20, 10]
    return lost


def _generalization(n, rng):
    lost = np.zeros((4, 4, n, LENGTH))
    lost[..., 3] = 20
    lost[:2, 2:, :, 30] = 50 + rng.integers(0, 9, (2, 2, n))
    single = 0.6 + rng.normal(0, 0.01, (4, 4, n))
    return {"lost_single": lost, "G_single": single, "G_two": single + 0.1}


def _usage(n):
    by_blank = np.zeros((4, n, 2, 8))
    by_blank[:, :, 0] = [80, 40, 20, 5, 0, 0, 0, 0]
    by_blank[:, :, 1] = [5, 5, 10, 20, 20, 10, 5, 5]
    return {"by_blank": by_blank, "share": np.full((4, n), 0.4), "blank": np.full((4, LENGTH, WIDTH), 12.0)}


def _modes(n, rng):
    minus, plus = geometry(n, rng), geometry(n, rng)
    minus[..., UPWIND] -= 10
    minus[..., INITIATION] -= 30
    minus[..., SURGE] += 10
    two = np.zeros((4, n, LENGTH))
    two[..., [5, 30]] = 10
    lost = {"lost_two": two, "lost_minus": two.copy(), "lost_plus": two.copy()}
    lost["lost_minus"][..., 30] += 60
    lost["lost_plus"][..., 5] += 60
    return {"minus": minus, "plus": plus, **lost}


def _histories(branches, environment, rng):
    made = rng.integers(2, 40 + 60 * environment, (branches, len(GEOMETRY))).astype(float)
    made[0, INITIATION] = np.nan
    return made


def _set(figure, array, index, value):
    def change(results):
        results[figure][array][index] = value

    return change


def _reverse(figure, array, column):
    """Environments in the opposite order, in one measure of geometry."""

    def change(results):
        values = results[figure][array]
        values[..., column] = values[..., ::-1, :, column].copy()

    return change


def _strong(figure, array, column):
    """A trend that nobody would call weak."""
    return lambda results: _set(figure, array, (..., column), np.array([[1], [2], [3], [4]]))(results)


def _swap(figure, first, second):
    def change(results):
        arrays = results[figure].arrays
        arrays[first], arrays[second] = arrays[second], arrays[first]

    return change


#: For each claim, changes of the results each of which makes it not hold.
BROKEN = {
    "C1": [_set("fig2", "cast_strata", (2, ..., 0), 0.9)],
    "C2": [_set("fig2", "bayes_strata", (0, ..., 0), 0.6), _set("fig2", "bayes_strata", (0, ..., 0), 0.95)],
    "C3": [_set("fig2", "single_strata", (0, ..., 2), 0.95), _set("fig2", "single_strata", (3, ..., 2), 0.85)],
    "C4": [_set("fig1", "curve_single", (1, slice(None), slice(90, None), 1), 0.75)],
    "C5": [_reverse("fig3", "geometry", SURGE), _set("fig3", "geometry", (..., SURGE), 7)],
    "C6": [_reverse("fig3", "geometry", UPWIND), _reverse("fig3", "geometry", INITIATION),
           _set("fig3", "geometry", (slice(2), slice(None), INITIATION), np.nan)],
    "C7": [_reverse("fig3", "geometry", CAST), _reverse("fig3", "geometry", BACK), _strong("fig3", "geometry", CAST)],
    "C8": [_set("fig3", "lost", ..., 1.0)],
    "C9": [_set("fig4", "lost_single", (0, 2, slice(None), 30), 0)],
    "C10": [_set("fig4", "G_two", (3,), 0.3)],
    "C11": [_set("fig2", "two_strata", (3, ..., 0), 0.5), _set("fig2", "two_strata", (0, ..., 0), 0.8)],
    "C12": [_set("fig6", "share", 0, 0.7), _set("fig6", "by_blank", (1,), 5.0)],
    "C13": [_swap("fig7", "minus", "plus")],
    "C14": [_swap("fig7", "lost_minus", "lost_two"), _swap("fig7", "lost_plus", "lost_two")],
    "C15": [_set("fig2", "heuristic_strata", (1, ..., 0), 0.6)],
    "C16": [_set("s3", "strata", (0, slice(6, None), ..., 0), 0.4)],
    "C17": [_set("fig8", "geometry_sparser", ..., 5), _swap("fig8", "geometry_denser", "geometry_sparser")],
    "C18": [_reverse("s2", "single", UPWIND), _reverse("s5", "geometry", SURGE)],
}  # fmt: skip
