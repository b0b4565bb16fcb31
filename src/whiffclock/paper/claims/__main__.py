"""``python -m whiffclock.paper.claims docs/claims.md``: write the table of claims into the documentation."""

import re
import sys
from pathlib import Path

from whiffclock.paper.claims.table import markdown


def with_table(text: str) -> str:
    """The text with its table of claims replaced by the current one."""
    return re.sub(r"^\| \| claim,.*\n(\|.*\n)*", lambda _: markdown(), text, count=1, flags=re.MULTILINE)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(with_table(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
