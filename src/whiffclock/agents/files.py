"""Policies of any kind in files."""

from pathlib import Path

from whiffclock.agents.bayes import BeliefPolicy
from whiffclock.archive import read_npz
from whiffclock.policy import SavedPolicy, TablePolicy, format_of


def load_policy(path: Path) -> SavedPolicy:
    """The policy in a file, of any kind."""
    form = format_of(read_npz(path, "a whiffclock policy", only=("header",)), path)
    kind = BeliefPolicy if form in (BeliefPolicy.FORMAT, *BeliefPolicy.OLD_FORMATS) else TablePolicy
    return kind.load(path)
