"""Tables in a terminal: 80 columns, and names that look like markup."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from whiffclock.drawing.tables import comparison_table, evaluation_table
from whiffclock.paper.tables import claims_table


def shown(table):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    return text


@pytest.fixture
def evaluation():
    return SimpleNamespace(mean=lambda metric: 0.4567, standard_error=lambda metric: 0.0123)


NAME = "[/bold]a[red]\\"


def test_square_brackets_in_names_are_not_markup(evaluation):
    text = shown(evaluation_table([(NAME, "dense", evaluation)], f"title {NAME}", f"caption {NAME}"))
    assert text.count(NAME) == 3
    row = SimpleNamespace(environment=NAME, agent=NAME, evaluations=[evaluation], best=evaluation)
    row.values = lambda metric: np.array([0.4567])
    text = shown(comparison_table([row], NAME, NAME))
    assert text.count(NAME) == 4


def test_one_agent_has_an_error_and_an_ensemble_a_range(evaluation):
    one = SimpleNamespace(environment="dense", agent="two-Q", evaluations=[evaluation], best=evaluation)
    one.values = lambda metric: np.array([0.4567])
    two = SimpleNamespace(environment="dense", agent="single-Q", evaluations=[evaluation] * 3)
    two.values = lambda metric: np.array([-0.034, 0.47, 1.0])
    text = shown(comparison_table([one, two], "title"))
    assert "0.457 ±.012" in text
    assert "0.47 [-.03 1.00]" in text
    assert text.count("dense") == 1


def test_a_single_stratum_has_no_error(evaluation):
    evaluation.standard_error = lambda metric: np.nan
    assert "±" not in shown(evaluation_table([("a", "dense", evaluation)], "title"))


def claim(name, verdict, *outcomes):
    parts = {f"part {i}": {"outcome": outcome, "wanted": "above 0"} for i, outcome in enumerate(outcomes)}
    numbers = {"part": "part 0", "value": -0.2, "interval": (-0.31, -0.1), "details": {"parts": parts}}
    claim = SimpleNamespace(id=name, title=f"Title of {name}")
    return SimpleNamespace(claim=claim, verdict=verdict, summary=f"Summary of {name}", **numbers)


def test_a_claim_says_how_many_parts_hold_and_what_does_not_is_listed():
    fine = claim("C1", "holds", "holds", "holds")
    mixed = claim("C2", "does not hold", "does not hold", "holds", "not decidable")
    claims, failed = shown(claims_table([fine, mixed, claim("C3", "not tested")])).split("Do not hold")
    lines = {line.split()[0]: " ".join(line.split()) for line in claims.splitlines() if line.strip()}
    assert lines["C1"] == "C1 Title of C1 2 of 2 hold ✓ holds"
    assert lines["C2"] == "C2 Title of C2 1 of 3 hold ✗ does not hold"
    assert "Summary of C2" in claims
    assert "Summary of C1" not in claims  # its parts have one outcome
    assert lines["C3"] == "C3 Title of C3 – not tested"
    assert "C2 part 0 -.20 [-.31 -.10] above 0" in " ".join(failed.split())
    assert "C1" not in failed
    assert "Do not hold" not in shown(claims_table([fine]))
