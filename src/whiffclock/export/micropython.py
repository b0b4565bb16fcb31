"""One module for MicroPython, which CPython runs as well: the same tables as in C, in bytes."""

from __future__ import annotations

from whiffclock.export.machine import Machine


def module(machine: Machine) -> str:
    """The text of the module: a class with a method ``step``."""
    size = machine.bits // 8
    lines = [f"# {machine.provenance}", "# Moves: 0 upwind, 1 +y, 2 -y, 3 downwind.", f"_MOVES = {machine.packed!r}"]
    if machine.head:
        pairs = machine.after[: machine.head].astype(f"<u{size}").tobytes()
        lines += [f"_NEXT = {pairs!r}"]
    blank, whiff = machine.first.tolist()
    lines += [
        "",
        "",
        "class Agent:",
        '    """Takes a whiff bit after each move, and the first one before all moves; returns the next move."""',
        "",
        "    def __init__(self):",
        "        self.n = -1",
        "",
        "    def step(self, whiff):",
        "        n = self.n",
        "        if n < 0:",
        f"            n = {whiff} if whiff else {blank}",
    ]
    if machine.head:
        at = f"{2 * size} * n + ({size} if whiff else 0)"
        bytes_ = [f"_NEXT[i + {i}] << {8 * i}" if i else "_NEXT[i]" for i in range(size)]
        lines += [f"        elif n < {machine.head}:", f"            i = {at}", f"            n = {' | '.join(bytes_)}"]
    if machine.head < machine.states:
        *others, (_, last) = machine.ranges
        chain = "".join(f"{target} if n < {end} else " for end, target in others)
        lines += ["        elif whiff:", f"            n = {chain}{last}"]
        lines += [line for n, to in machine.jumps for line in (f"        elif n == {n}:", f"            n = {to}")]
        lines += ["        else:", "            n += 1"]
    lines += ["        self.n = n", "        return (_MOVES[n >> 2] >> ((n & 3) << 1)) & 3"]
    return "\n".join(lines) + "\n"
