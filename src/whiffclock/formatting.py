"""Numbers as text, the same way for the page, the terminal and captions; NaN as null for JSON."""

import math
import re
from collections.abc import Mapping
from typing import Any

#: A number below this is the rounding error of a sum; the share of one search is far larger.
_NOTHING = 1e-9


def number(value: float | None, form: str = "", *, nan: str = "–", infinity: str = "∞", terse: bool = False) -> str:
    """A number as text; zero after rounding has no sign.

    ``form`` is a format such as ".2f"; by default, the number of digits depends on the size of the number. ``nan`` is
    the text for NaN and None. ``terse`` is for a terminal: no zero before the point, and a hyphen for a minus sign.
    """
    if value is None or math.isnan(value):
        return nan
    if math.isinf(value):
        return infinity if value > 0 else f"−{infinity}"
    form = form or _few_digits(value)
    text = format(value, form)
    if not text.strip("+-0.%"):
        text = format(0.0, form)
    if not terse:
        return text.replace("-", "−")
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else text


def plainly(value: float, digits: int = 6) -> str:
    """A number as a user would write it, such as a threshold: 3e-6, 0.5, 1e30."""
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{value:.{digits}g}")


def short(value: float, digits: int = 2) -> str:
    """A number for a terminal: .47, -.03, 1.00."""
    return number(value, f".{digits}f", terse=True)


def span(low: float, high: float, form: str = "", *, terse: bool = False) -> str:
    """An interval in brackets; empty if there is none."""
    ends = (number(end, form, terse=terse) for end in (low, high))
    return "" if math.isnan(low) else f"[{(' ' if terse else ', ').join(ends)}]"


def shared_form(*values: float) -> str:
    """The format that gives the largest of several numbers two digits or more, with at most four decimals."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 1.0
    return f".{2 + (largest < 0.1) + (largest < 0.01)}f"


def nan_to_null(value: Any, digits: int | None = None) -> Any:
    """Plain values for JSON: None for numbers that are not finite, the others to ``digits`` significant digits."""
    if isinstance(value, Mapping):
        return {str(name): nan_to_null(one, digits) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_null(one, digits) for one in value]
    if hasattr(value, "tolist"):  # numpy's
        return nan_to_null(value.tolist(), digits)
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return value if digits is None else float(f"{value:.{digits}g}")


def _few_digits(value: float) -> str:
    size = abs(value)
    if size >= 1000 or size < _NOTHING or value == int(value):
        return ",.0f"
    return f".{2 if size >= 1 else max(3, -math.floor(math.log10(size)))}f"


def mode_name(mode: int, modes: int = 2) -> str:
    """What a mode is called: Q- after short blanks and Q+ after long ones, if there are two."""
    return ("Q-", "Q+")[mode] if modes == 2 else f"mode {mode}"
