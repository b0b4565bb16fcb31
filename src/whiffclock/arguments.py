"""What a user gives to a function or a command, as the values that the code works with.

Each function takes what is sensible in a notebook (numbers of NumPy's, sequences, dictionaries, and text as on the
command line) and refuses the rest in one sentence.
"""

import inspect
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from whiffclock.memory import MAKERS, Memory, parse_memory
from whiffclock.params import Settings, Valid, checked, require
from whiffclock.plain_values import plain, shown
from whiffclock.policy import Policy, require_policy

Kind = TypeVar("Kind", bound=Settings)
_Seed = Annotated[int, Valid("The seed is {}", ge=0)]
_Agents = Annotated[int, Valid("The number of agents is {}", ge=1, le=100_000)]


def seeds_of(seeds: int | Sequence[int] | None, seed: int = 0) -> list[int]:
    """The seed of each agent: ``seeds`` is their number (None: one), and ``seed`` the first; or each has its own.

    Examples
    --------
    >>> seeds_of(None, 7), seeds_of(3, 7), seeds_of([5, 2])
    ([7], [7, 8, 9], [5, 2])
    """
    first, seeds = checked("seed", seed, _Seed), plain(seeds)
    if not isinstance(seeds, list | tuple | range):
        count = 1 if seeds is None else checked("seeds", seeds, _Agents)
        last = checked("seed", first + count - 1, _Seed)
        return list(range(first, last + 1))
    require(first == 0, "seed is that of the first agent; where each agent has its own in seeds, leave it out.")
    made = [checked("seeds", one, _Seed) for one in seeds]
    require(len(made) > 0, "The list of seeds is empty; it must hold at least 1.")
    require(len(set(made)) == len(made), f"The seeds are {shown(made)}; they must differ from each other.")
    return made


def taus_of(tau: int | Sequence[int] | str | None) -> tuple[int, ...] | None:
    """Blank thresholds between modes, from numbers or text; None if they are to be chosen by a scan, "auto".

    Examples
    --------
    >>> taus_of(None), taus_of(10), taus_of("5,20"), taus_of("auto")
    ((), (10,), (5, 20), None)
    """
    if isinstance(tau, str) and tau == "auto":
        return None
    try:
        given = [int(part) for part in tau.split(",")] if isinstance(tau, str) else plain(tau)
    except ValueError:
        given = tau
    listed = () if given is None else given if isinstance(given, list | tuple | range) else (given,)
    right = Valid(must="be 'auto' or whole numbers such as 10 or 5,20")
    return checked("tau", given if isinstance(given, str) else listed, Annotated[tuple[int, ...], right])


def memory_of(memory: Memory | str | None, length: int, taus: tuple[int, ...] | None = (), **settings: bool) -> Memory:
    """The memory of an agent: a memory, the one that a text such as "window:3" describes, or by default the clock.

    ``length`` is that of its clock, where the memory does not say it; ``taus`` are as :func:`taus_of` returns them, and
    ``settings`` are others of the clock: ``split_zero``, ``literal_tau``.

    Examples
    --------
    >>> memory_of(None, 100, (10,)).name, memory_of("window:3", 100).name
    ('two-Q', 'window-3')
    """
    given = {"taus": taus or ()} | {name: checked(name, value, bool) for name, value in settings.items()}
    known: Collection[str] = ()
    if not isinstance(memory, Memory):
        right = Valid(must="be a Memory, or a text such as 'window:3'")
        text = checked("memory", "clock" if memory is None else memory, Annotated[str, right])
        memory = parse_memory(text, length=length, **given)
        known = inspect.signature(MAKERS[text.partition(":")[0]]).parameters
    for name, value in (given | {"taus": taus}).items():
        option = "tau" if name == "taus" else name
        fits = name in known or value in ((), False)
        instead = f"the memory is {memory.name}; leave out {option} (--{option.replace('_', '-')})"
        require(fits, f"{option} is a setting of the clock, and {instead}.")
    return memory


def settings_of(kind: type[Kind], value: Kind | Mapping[str, Any] | None) -> Kind:
    """Settings from settings, from a dictionary of some of them, or from nothing: the defaults.

    Examples
    --------
    >>> from whiffclock.params import WorldSettings
    >>> settings_of(WorldSettings, {"radius": 3}).radius
    3.0
    """
    name = kind.__name__.removesuffix("Settings").lower()
    return kind() if value is None else checked(name, value, kind)


def policies_of(
    policies: Policy | Sequence[Policy] | Mapping[str, Policy | Sequence[Policy]],
) -> list[tuple[str | None, Policy]]:
    """All policies of one, several, or a dictionary from names to policies; each with its name there, or None."""
    named = policies.items() if isinstance(policies, Mapping) else [(None, policies)]
    made = [(checked("name", name, str | None), one) for name, some in named for one in _each_policy(some)]
    require(len(made) > 0, "There is no policy to test; give one at least.")
    return made


def _each_policy(given: Any) -> Iterator[Policy]:
    if isinstance(given, list | tuple):
        for one in given:
            yield from _each_policy(one)
        return
    require_policy(given)
    yield given


def path_of(path: Path | str, name: str = "path") -> Path:
    """The path of a file or folder, from a path or a text.

    Examples
    --------
    >>> path_of("policies/agent.npz").name
    'agent.npz'
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    right = isinstance(text, str) and text != "" and "\0" not in text
    require(right, f"{name} is {shown(path)}; it must be the name of a file or folder.")
    return Path(text)
