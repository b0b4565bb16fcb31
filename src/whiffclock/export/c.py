"""One header in C99 for a policy: tables of two bits per state, or runs, and a step of some fifteen instructions.

The header allocates nothing, has no floating point numbers, no recursion and no loops, and is valid C++. Each function
here returns a piece of text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from whiffclock.export.machine import Machine
from whiffclock.export.nose import SLOWER
from whiffclock.export.settings import FrontEnd
from whiffclock.params import require

_WIDTH = 100
#: Words of C and C++ that begin with a small letter and are no names.
_WORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const consteval constexpr
constinit continue decltype default delete do double else enum explicit export extern false float for friend goto if
inline int long mutable namespace new noexcept not nullptr operator or private protected public register requires
restrict return short signed sizeof static struct switch template this throw true try typedef typeid typename union
unsigned using virtual void volatile while xor"""


def header(machine: Machine, prefix: str, front_end: FrontEnd | None = None) -> str:
    """The text of the header."""
    named = re.fullmatch(r"[a-z]([a-z0-9]|_(?!_)){0,30}", prefix) is not None and prefix not in _WORDS.split()
    must = "it must begin with a small letter, and have only small letters, digits and single _, 31 at most"
    require(named, f"The prefix is {prefix!r}; {must}, and be no word of C or C++.")
    p, guard = prefix, f"{prefix.upper()}_H"
    parts = [
        comment(machine.provenance),
        f"#ifndef {guard}\n#define {guard}\n#include <stdint.h>",
        _flash(machine, p.upper()),
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        f"/* Moves: 0 upwind, 1 +y, 2 -y, 3 downwind. {p}_begin takes the first whiff bit, {p}_step each other. */",
        _moves(machine, p),
        _begin(machine, p),
        _step(machine, p),
        *([] if front_end is None else [_nose(front_end, p)]),
        "#ifdef __cplusplus\n}\n#endif\n#endif",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def comment(text: str) -> str:
    """Text as a comment; whatever it holds, it neither ends the comment nor begins another one.

    Examples
    --------
    >>> comment("a */ b")
    '/* a * / b */'
    """
    safe = re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)", " ", text.encode("ascii", "backslashreplace").decode())
    safe = re.sub(r"\?(?=\?)", "? ", safe.replace("\n", " "))  # trigraphs
    return "/* " + "\n   ".join(textwrap.wrap(safe, _WIDTH - 6, break_on_hyphens=False)) + " */"


def _flash(machine: Machine, p: str) -> str:
    """Tables of AVR processors are in flash memory, which other instructions read."""
    word = {8: "byte", 16: "word", 32: "dword"}[machine.bits]
    macros = [("ROM", "PROGMEM", ""), ("AT(t, i)", "pgm_read_byte(&(t)[i])", "((t)[i])")]
    macros += [("NEXT(i)", f"pgm_read_{word}(&{p.lower()}_next[i])", f"{p.lower()}_next[i]")] * (machine.head > 0)
    on, off = ("\n".join(f"#define {p}_{one[0]} {one[side]}".rstrip() for one in macros) for side in (1, 2))
    return f"#ifdef __AVR__\n#include <avr/pgmspace.h>\n{on}\n#else\n{off}\n#endif"


def array(kind: str, name: str, values: Iterable[int], attribute: str = "") -> str:
    """A constant array.

    Examples
    --------
    >>> array("uint8_t", "moves", [1, 2])
    'static const uint8_t moves[2] = {1U,2U};'
    """
    listed = [f"{value}U" for value in values]
    text = f"static const {kind} {name}[{len(listed)}]{attribute} = {{{','.join(listed)}}};"
    return "\n".join(textwrap.wrap(text.replace(",", ", "), _WIDTH)).replace(", ", ",").replace("{,", "{")


def _kind(machine: Machine) -> str:
    return f"uint{machine.bits}_t"


def _moves(machine: Machine, p: str) -> str:
    """The state, the table of moves and the present move."""
    return _by_runs(machine, p) if machine.by_runs else _by_states(machine, p)


def _by_states(machine: Machine, p: str) -> str:
    """Two bits per state."""
    return f"""\
typedef struct {{ {_kind(machine)} n; }} {p}_state;
{array("uint8_t", f"{p}_moves", machine.packed, f" {p.upper()}_ROM")}
static inline uint8_t {p}_move(const {p}_state *s) {{
  return (uint8_t)(({p.upper()}_AT({p}_moves, s->n >> 2U) >> ((s->n & 3U) << 1U)) & 3U);
}}"""


def _by_runs(machine: Machine, p: str) -> str:
    """Runs: the move in the two lowest bits, how many states follow in the run above them."""
    return f"""\
typedef struct {{ {_kind(machine)} n; uint8_t run; uint8_t left; }} {p}_state;
{array("uint8_t", f"{p}_runs", (action + 4 * (length - 1) for action, length in machine.runs), f" {p.upper()}_ROM")}
static inline uint8_t {p}_move(const {p}_state *s) {{
  return (uint8_t)({p.upper()}_AT({p}_runs, s->run) & 3U);
}}"""


def _begin(machine: Machine, p: str) -> str:
    blank, whiff = (_to(machine, int(state)) for state in machine.first)
    return f"""\
static inline uint8_t {p}_begin({p}_state *s, uint8_t whiff) {{
  if (whiff != 0U) {{ {whiff} }} else {{ {blank} }}
  return {p}_move(s);
}}"""


def _to(machine: Machine, state: int) -> str:
    """The statements that make a state the present one."""
    text = f"s->n = {state}U;"
    if not machine.by_runs:
        return text
    run, end = 0, machine.runs[0][1]
    while state >= end:
        run += 1
        end += machine.runs[run][1]
    return f"{text} s->run = {run}U; s->left = {end - 1 - state}U;"


def _step(machine: Machine, p: str) -> str:
    """The function that takes a whiff bit: the head, whiffs and blanks behind it."""
    before, open_, close = "", "  ", ""
    if machine.head:
        pairs = machine.after[: machine.head].ravel().tolist()
        before = array(f"{_kind(machine)}", f"{p}_next", pairs, f" {p.upper()}_ROM") + "\n"
        look = f"s->n = {p.upper()}_NEXT((2U * s->n) + ((whiff != 0U) ? 1U : 0U));"
        if machine.head == machine.states:
            return f"{before}{_function(p, [f'  {look}'])}"
        open_, close = f"  if (s->n < {machine.head}U) {{ {look} }} else ", ""
    whiffs = _chain([(f"s->n < {end}U", [_to(machine, target)]) for end, target in machine.ranges])
    lines = [f"{open_}if (whiff != 0U) {{", *(f"    {line}" for line in whiffs), "  } else {"]
    lines += [*(f"    {line}" for line in _blanks(machine, p)), f"  }}{close}"]
    return before + _function(p, lines)


def _function(p: str, lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"static inline uint8_t {p}_step({p}_state *s, uint8_t whiff) {{\n{body}\n  return {p}_move(s);\n}}"


def _blanks(machine: Machine, p: str) -> list[str]:
    """What a blank does behind the head."""
    on = [f"s->n = ({_kind(machine)})(s->n + 1U);"]
    if machine.by_runs:
        next_run = f"s->run++; s->left = (uint8_t)({p.upper()}_AT({p}_runs, s->run) >> 2U);"
        on += [f"if (s->left > 0U) {{ s->left--; }} else {{ {next_run} }}"]
    stays = [n for n, target in machine.jumps if n == target]
    if stays == [n for n, _ in machine.jumps]:
        when = " && ".join(f"(s->n != {n}U)" for n in stays)
        return [f"if {when if len(stays) == 1 else f'({when})'} {{", *(f"  {line}" for line in on), "}"]
    cases = [(f"s->n == {n}U", [_to(machine, to) if to != n else "/* stays */"]) for n, to in machine.jumps]
    return _chain([*cases, ("", on)])


def _chain(cases: Sequence[tuple[str, list[str]]]) -> list[str]:
    """``if ... else if ... else ...``; the last case has no condition, or always holds."""
    *others, (_, last) = cases
    if not others:
        return last
    words = ["if", *["} else if"] * (len(others) - 1)]
    lines = [(f"{word} ({when}) {{", then) for word, (when, then) in zip(words, others, strict=True)]
    return [one for head, then in [*lines, ("} else {", last)] for one in (head, *(f"  {line}" for line in then))] + [
        "}"
    ]


def _nose(how: FrontEnd, p: str) -> str:
    """The front end; see :mod:`whiffclock.export.nose`."""
    return f"""\
/* From raw readings to whiffs: rise {how.rise}, fall {how.fall}, baseline 2^{how.slow}, dead time {how.dead}. */
typedef struct {{ uint32_t base; uint16_t dead; uint8_t on; }} {p}_nose;
static inline void {p}_nose_begin({p}_nose *s, uint16_t raw) {{
  s->base = (uint32_t)raw << {how.slow}U; s->dead = 0U; s->on = 0U;
}}
static inline uint8_t {p}_nose_step({p}_nose *s, uint16_t raw) {{
  const int32_t over = (int32_t)raw - (int32_t)(s->base >> {how.slow}U);
  if (s->on != 0U) {{
    if (over < {how.fall}) {{ s->on = 0U; s->dead = {how.dead}U; }}
  }} else if (s->dead > 0U) {{
    s->dead--;
  }} else if (over > {how.rise}) {{
    s->on = 1U;
  }} else {{
    /* no whiff */
  }}
  s->base = (uint32_t)((int32_t)s->base + ((s->on != 0U) ? (over / {SLOWER}) : over));
  return s->on;
}}"""
