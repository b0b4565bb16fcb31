"""Phases of a search, and its moving picture."""

import numpy as np
import pytest

import whiffclock as wc
from whiffclock.drawing.film import PHASES, RETURN, SURGE, Film, phases, phases_of

STEPS = {"u": (-1, 0), "l": (0, 1), "r": (0, -1), "d": (1, 0)}


def path_of(moves):
    """Positions of a path of moves: u upwind, d downwind, l and r across."""
    return np.cumsum([(0, 0), *(STEPS[move] for move in moves)], axis=0)


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("uuu", "sss"),
        ("ulu", "sss"),  # one sidestep does not end a surge
        ("uullu", "ssccc"),
        ("lluu", "cccc"),
        ("ullddd", "sccrrr"),
        ("ulldd", "scccc"),  # two downwind moves are not yet a return
        ("ullddldddrrd", "sccccc" + "rrr" + "ccc"),
        ("ulldddldd" + "rr" + "ddd", "scc" + "rrrrrr" + "cc" + "rrr"),
        ("d", "s"),
        ("", ""),
    ],
)
def test_phases_follow_the_rules_of_the_geometry(moves, expected):
    found = "".join(PHASES[phase][0] for phase in phases(path_of(moves)))
    assert found == expected


def test_phases_agree_with_the_geometry_of_a_recovery_path():
    path = wc.recovery_path(wc.shipped("clock-sparse"))
    found, shape = phases(path), wc.geometry(path)
    assert (found[: shape.surge_length] == SURGE).all()
    assert np.flatnonzero(found == RETURN)[0] == shape.downwind_return_start


def test_a_whiff_starts_the_phases_again(plume):
    found = wc.search(wc.cast_and_surge(30), plume, (10, 13), "dense", horizon=40)
    phase = phases_of(found)
    assert len(phase) == found.moves
    assert all(phase[at] == SURGE for at in np.flatnonzero(found.whiff[:-1]))


def test_the_picture_shows_what_is_known_so_far(plume):
    found = wc.search(wc.cast_and_surge(30), plume, (10, 13), "dense", horizon=40)
    film = Film(found, plume, "a search for $5 or $6")
    film.draw(7)
    shown = film._artists
    assert len(shown["path"].get_segments()) == len(shown["clock"].get_segments()) == 7
    assert shown["count"].get_text() == str(found.clock[7])
    assert len(shown["whiffs"].get_xdata()) == found.whiff[:8].sum()
    lit = [word.get_text().partition(":")[0] for word in shown["words"] if word.get_color() == "white"]
    assert lit == ["whiff" if found.whiff[7] else PHASES[phases_of(found)[6]]]
