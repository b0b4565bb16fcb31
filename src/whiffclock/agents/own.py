"""Policies that a user names where a policy file could be: a file, ``module:object``, or a name.

The object is a policy, a class with ``act`` (and ``begin`` and ``observe``, if it remembers more than the last
observation), or a function from the clock to an action. Names are those of the programs that come with the package, and
of the agents that other packages add with the entry point ``whiffclock.agents``.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from whiffclock.agents.files import load_policy
from whiffclock.agents.function import from_function
from whiffclock.agents.shipped import shipped
from whiffclock.disk import first_line
from whiffclock.params import InputError, require
from whiffclock.policy import Policy, require_policy

#: Entry points of agents in other packages.
GROUP = "whiffclock.agents"
_OBJECT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def policy_named(word: Path | str) -> Policy:
    """The policy that a word on the command line names; a file comes first."""
    text = str(word)
    if Path(word).exists():
        return load_policy(Path(word))
    if _OBJECT.fullmatch(text):
        return policy_from(_object(text), text)
    if text in shipped():
        return shipped(text)
    for found in entry_points(group=GROUP, name=text):
        with _running(f"The agent {text}"):
            made = found.load()
        return policy_from(made, f"The agent {text}")
    return load_policy(Path(word))  # which says that there is none


def is_file(word: Path | str) -> bool:
    """Whether a word names a file or folder, as opposed to ``module:object`` or a name."""
    text = str(word)
    named = _OBJECT.fullmatch(text) or text in shipped() or entry_points(group=GROUP, name=text)
    return Path(word).exists() or not named


def policy_from(made: Any, name: str) -> Policy:
    """A policy from a policy, a class, a function of the clock, or a function without arguments that makes one."""
    if isinstance(made, type):
        act = hasattr(made, "act")
        require(act, f"{name} is a class without a method act, which chooses the moves.")
        kind = made if issubclass(made, Policy) else type(made.__name__, (made, Policy), {})
        with _running(f"{name}()"):
            made = kind()
    elif inspect.isroutine(made) and not inspect.signature(made).parameters:
        with _running(f"{name}()"):
            made = made()
    elif inspect.isroutine(made):
        with _running(name):
            made = from_function(made)
    require_policy(made)
    return made


def _object(text: str) -> Any:
    """The object ``module:object``; modules of the current folder are found."""
    module, _, path = text.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with _running(f"The module {module}"):
        found = importlib.import_module(module)
    for name in path.split("."):
        require(hasattr(found, name), f"There is no {path} in {module}, of which {text} names a policy.")
        found = getattr(found, name)
    return found


@contextmanager
def _running(what: str) -> Iterator[None]:
    """Whatever the code of a user raises becomes one sentence that says where."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        here = Path(last.filename).is_file() and Path(last.filename) != Path(__file__)
        where = f" ({Path(last.filename).name}, line {last.lineno})" if here else ""
        raise InputError(f"{what} fails with {type(error).__name__}: {first_line(error)}{where}.") from error
