"""Tables in a terminal: 80 columns, and names that look like markup."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from whiffclock.cli.options import facts_table
from whiffclock.drawing.tables import add_row, comparison_table, evaluation_table, plain_table
from whiffclock.paper.tables import claims_table
from whiffclock.terminal import Terminal


def shown(table):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    return text


HOSTILE = "a\x1b[31m\x07\r\x9b\u202e[b]"
HARMLESS = "a\\x1b[31m\\x07\\x0d\\x9b\\u202e[b]"


@pytest.mark.parametrize(
    "printed", [HOSTILE, Text(f"{HOSTILE[:5]}"), facts_table({"origin": HOSTILE})], ids=["text", "rich text", "table"]
)
def test_control_characters_are_escaped(printed):
    terminal = Terminal(file=io.StringIO(), width=80, color_system=None)
    terminal.print(printed)
    text = terminal.file.getvalue()
    assert all(one.isprintable() for one in text.replace("\n", ""))
    assert HARMLESS[:8] in text
    assert HARMLESS in text or isinstance(printed, Text)


def test_a_name_does_not_begin_a_line_of_its_own():
    terminal = Terminal(file=io.StringIO(), width=80)
    terminal.print(facts_table({"origin": "a\nwhiffclock: all is well"}))
    assert terminal.file.getvalue().count("\n") == 1


def test_colours_are_not_escaped():
    terminal = Terminal(file=io.StringIO(), force_terminal=True, color_system="standard")
    terminal.print("a", style="red")
    assert terminal.file.getvalue() == "\x1b[31ma\x1b[0m\n"


def test_numbers_in_messages_have_no_colours():
    terminal = Terminal(file=io.StringIO(), force_terminal=True, color_system="standard")
    terminal.print("simulated by whiffclock 0.1.0, seed 0", "runs/policy")
    assert terminal.file.getvalue() == "simulated by whiffclock 0.1.0, seed 0 runs/policy\n"


@pytest.mark.parametrize("columns", [1, 20, 60])
def test_a_narrow_terminal_loses_no_column(columns):
    terminal = Terminal(file=io.StringIO(), width=columns, color_system=None)
    table = plain_table("title", "a caption", "environment", "agent", "n", "G")
    table.columns[1].no_wrap = False
    for environment in ("sparse", "sparser"):
        add_row(table, environment, "cast and surge", "20", "0.347 [0.331 0.352]")
    terminal.print(table)
    words = terminal.file.getvalue().split()
    assert {"environment", "agent", "n", "G", "sparse", "sparser", "cast", "surge", "20", "[0.331"} <= {*words}


def test_a_wide_terminal_gets_the_same_table_as_before():
    table = plain_table("title", "a caption", "environment", "agent")
    add_row(table, "sparse", "cast and surge")
    plain, terminal = Console(width=80, file=io.StringIO()), Terminal(width=80, file=io.StringIO())
    plain.print(table)
    terminal.print(table)
    assert plain.file.getvalue() == terminal.file.getvalue()


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
    parts = {f"part {i}": {"outcome": outcome, "required": "above 0"} for i, outcome in enumerate(outcomes)}
    numbers = {"part": "part 0", "value": -0.2, "interval": (-0.31, -0.1), "details": {"parts": parts}}
    claim = SimpleNamespace(id=name, title=f"Title of {name}")
    return SimpleNamespace(claim=claim, verdict=verdict, summary=f"Summary of {name}", **numbers)


def test_a_claim_says_how_many_parts_hold_and_what_does_not_is_listed():
    fine = claim("C1", "holds", "holds", "holds")
    mixed = claim("C2", "does not hold", "does not hold", "holds", "undecided")
    claims, failed = shown(claims_table([fine, mixed, claim("C3", "not tested")])).split("Outside the required range")
    lines = {line.split()[0]: " ".join(line.split()) for line in claims.splitlines() if line.strip()}
    assert lines["C1"] == "C1 Title of C1 2 of 2 hold ✓ holds"
    assert lines["C2"] == "C2 Title of C2 1 of 3 hold ✗ does not hold"
    assert "Summary of C2" in claims
    assert "Summary of C1" not in claims  # its parts have one outcome
    assert lines["C3"] == "C3 Title of C3 – not tested"
    assert "C2 part 0 -.20 [-.31 -.10] above 0" in " ".join(failed.split())
    assert "C1" not in failed
    assert "Outside the required range" not in shown(claims_table([fine]))
