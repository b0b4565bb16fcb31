"""The memories of the memory-reward curve."""

from whiffclock.memory import Memory, clock, controller, window

_MODES = {2: (10,), 3: (5, 20), 4: (3, 10, 30)}

#: All memories by name, the smallest of a family first.
MEMORIES: dict[str, Memory] = {
    **{f"clock {length}": clock(length) for length in (5, 10, 20, 35, 60, 100, 500)},
    **{f"{modes} modes": clock(500, taus) for modes, taus in _MODES.items()},
    **{f"window {n}": window(n) for n in (2, 4)},
    **{f"controller {n}": controller(n) for n in (2, 4, 8, 16, 32, 64)},
}


def family(name: str) -> str:
    """clock, modes (a clock with several), window or controller."""
    memory = MEMORIES[name]
    return "modes" if memory.modes > 1 else str(memory.maker)
