"""The claims on the report page: verdict in word, sign and colour; number and interval; everything behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from whiffclock.paper.claims import Verdict
from whiffclock.paper.claims.verdict import Word

#: Sign and class of each word.
LOOKS: dict[Word, tuple[str, str]] = {
    "holds": ("✓", "holds"),
    "does not hold": ("✗", "fails"),
    "not decidable": ("?", "open"),
}

#: Below this, a number is the rounding of a sum; one search among all those of an agent is far more.
_NOTHING = 1e-9


def number(value: float | None) -> str:
    """A number in few digits, with a proper minus; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size < _NOTHING:
        return "0"
    digits = 2 if size >= 1 else max(3, -math.floor(math.log10(size)))
    text = f"{value:,.0f}" if size >= 1000 or value == int(value) else f"{value:.{digits}f}"
    return text.replace("-", "−")


def span(low: float, high: float) -> str:
    """An interval in brackets; nothing if there is none."""
    return "" if math.isnan(low) else f"[{number(low)}, {number(high)}]"


def claims_section(verdicts: Sequence[Verdict]) -> str:
    """The rule and the table."""
    rows = "\n".join(_row(verdict) for verdict in verdicts)
    return f"""<section id="claims">
<h2>The paper’s claims, judged</h2>
<p>Each claim is a number over an ensemble of trained agents, with a 95% interval from resampling agents and start
times. It <em>holds</em> if the whole interval lies where the claim wants it, <em>does not hold</em> if the whole
interval misses, and is <em>not decidable</em> otherwise: then this run has too few agents, or too much scatter among
them, to tell. Of several parts all must hold; the one shown is the weakest.</p>
<table class="claims">
<thead><tr><th></th><th>Claim</th><th>Found</th><th>Verdict</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</section>"""


def tally(verdicts: Sequence[Verdict]) -> str:
    """How many claims hold, do not, and are open."""
    words = [verdict.verdict for verdict in verdicts]
    items = [f'<li><span class="badge {look}">{sign} {words.count(word)} {_many(word, words.count(word))}</span></li>'
             for word, (sign, look) in LOOKS.items()]  # fmt: skip
    return f'<ul class="tally">{"".join(items)}</ul>'


def _many(word: Word, count: int) -> str:
    return word if count == 1 else {"holds": "hold", "does not hold": "do not hold"}.get(word, word)


def _row(verdict: Verdict) -> str:
    sign, look = LOOKS[verdict.verdict]
    return f"""<tr id="{escape(verdict.id)}"><td class="id">{escape(verdict.id)}</td>
<td class="said"><p>{escape(verdict.statement)}</p>{_details(verdict)}</td>
<td class="found">{_found(verdict)}</td>
<td class="word"><span class="badge {look}">{sign} {escape(verdict.verdict)}</span></td></tr>"""


def _found(verdict: Verdict) -> str:
    parts = verdict.details["parts"]
    if verdict.part not in parts:
        return f'<span class="part">{escape(verdict.why)}</span>'
    shown = parts[verdict.part]
    if math.isnan(shown["low"]):
        return f'<span class="value">{number(verdict.value)}</span><span class="part">{escape(verdict.why)}</span>'
    return (
        f'<span class="value">{number(verdict.value)}</span> {span(*verdict.interval)}'
        f'<span class="part">{escape(verdict.quantity)}; {escape(verdict.part)}</span>{whisker(shown)}'
        f'<span class="part">wanted {escape(_typeset(shown["wanted"]))}</span>'
    )


def _details(verdict: Verdict) -> str:
    parts = verdict.details["parts"]
    rows = "".join(
        f'<tr><td title="{part["outcome"]}">{LOOKS[part["outcome"]][0]}</td>'
        f'<th>{escape(label)}</th><td class="number">{number(part["value"])}</td>'
        f"<td>{span(part['low'], part['high'])}</td><td>{escape(_typeset(part['wanted']))}</td></tr>"
        for label, part in parts.items()
    )
    table = f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>' if rows else ""
    told = "".join(
        f"<li>{escape(name)}: {escape(_told(value))}</li>" for name, value in verdict.details["also"].items()
    )
    also = f"<p>Also, not judged:</p><ul>{told}</ul>" if told else ""
    return (
        f"<details><summary>How it is judged</summary><p>{escape(_typeset(verdict.statistic))}</p>"
        f"<p>{escape(_typeset(verdict.why))}</p>{table}{also}</details>"
    )


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_told(one) for one in value)
    return number(value) if isinstance(value, int | float) else str(value)


def _typeset(text: str) -> str:
    """Minus signs before digits."""
    for digit in "0123456789":
        text = text.replace(f" -{digit}", f" −{digit}")
    return text


def whisker(part: Mapping[str, Any]) -> str:
    """Interval and value as a small drawing over the wanted range; empty without an interval."""
    value, low, high = part["value"], part["low"], part["high"]
    above, below = part["above"], part["below"]
    ends = [end for end in (value, low, high, above, below) if math.isfinite(end)]
    if not math.isfinite(low) or not math.isfinite(high) or not math.isfinite(value):
        return ""
    pad = 0.12 * (max(ends) - min(ends)) or 1.0
    left, right = min(ends) - pad, max(ends) + pad

    def at(x: float) -> float:
        return round(4 + 192 * (min(max(x, left), right) - left) / (right - left), 2)

    colour = {"holds": "#17694a", "does not hold": "#a3341f"}.get(part["outcome"], "#6b5a16")
    edges = "".join(
        f'<line x1="{at(end)}" x2="{at(end)}" y1="1" y2="17" stroke="#8b95a1" stroke-dasharray="2 2"/>'
        for end in (above, below)
        if math.isfinite(end)
    )
    label = f"{number(value)}, interval {span(low, high)}, wanted {part['wanted']}"
    return (
        f'<svg class="whisker" viewBox="0 0 200 18" role="img" aria-label="{escape(label)}">'
        f'<rect x="{at(above)}" y="1" width="{round(at(below) - at(above), 2)}" height="16" fill="#eef1f4"/>{edges}'
        f'<line x1="{at(low)}" x2="{at(high)}" y1="9" y2="9" stroke="{colour}" stroke-width="2.5"/>'
        f'<circle cx="{at(value)}" cy="9" r="4.2" fill="{colour}"/></svg>'
    )
