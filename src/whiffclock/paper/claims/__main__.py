"""``python -m whiffclock.paper.claims docs/claims.md``: write the tables of claims and of the full run's results."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from whiffclock.paper.claims.table import markdown
from whiffclock.paper.claims.verdict import Verdict, agents_in_words
from whiffclock.paper.reference import reference_verdicts
from whiffclock.paper.tables import estimate

#: Of a claim with more parts, only the weakest is in the table.
_MOST_PARTS = 8


def with_tables(text: str) -> str:
    """The text with its tables replaced by the current ones."""
    for first, table in (("claim,", markdown()), ("verdict \\|", results(reference_verdicts().values()))):
        plain = table.replace("\\", r"\\")
        text = re.sub(rf"^\| \| {first}.*\n(\|.*\n)*", plain, text, count=1, flags=re.MULTILINE)
    return text


def results(verdicts: Iterable[Verdict]) -> str:
    """All parts of claims with their numbers."""
    head = ("", "verdict", "part", "estimate [interval]", "required", "outcome", "agents that would decide")
    rows = [head, ("---",) * len(head), *(row for found in verdicts for row in _rows(found))]
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |").replace("|  |", "| |") for row in rows)


def _rows(found: Verdict) -> Iterator[tuple[str, ...]]:
    parts, names = found.details["parts"], (found.claim.id, f"**{found.verdict}**")
    shown = parts if len(parts) <= _MOST_PARTS else {found.part: parts[found.part]}
    for label, part in shown.items():
        of = "" if len(shown) == len(parts) else f"weakest of {len(parts)}: "
        numbers = estimate(part["value"], part["low"], part["high"])
        yield (*names, f"{of}{label}", numbers, part["required"], part["outcome"], agents_in_words(part["needs"]))
        names = ("", "")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(with_tables(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
