"""Policies in files, whoever made them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.agents.bayes import NEIGHBOURS, QUASI_OPTIMAL, BeliefPolicy, neighbour, quasi_optimal
from whiffclock.archive import read_header, read_npz, write_npz
from whiffclock.params import InputError, require
from whiffclock.policy import Policy, TablePolicy
from whiffclock.pomdp.gridsearch import GridSearch

_FORMAT = "whiffclock belief policy 1"


def load_policy(path: Path) -> Policy:
    """The policy in a file, of whatever kind."""
    return load_belief_policy(path) if _header(path).get("format") == _FORMAT else TablePolicy.load(path)


def save_belief_policy(path: Path, policy: BeliefPolicy) -> None:
    """Write a policy that acts on beliefs."""
    write_npz(path, belief_policy_arrays(policy))


def belief_policy_arrays(policy: BeliefPolicy) -> dict[str, np.ndarray]:
    """A policy that acts on beliefs as named arrays: its model, and its alpha vectors if it has any."""
    model = policy.model
    header = {
        "format": _FORMAT,
        "version": __version__,
        "name": policy.name,
        "made_from": policy.made_from,
        "discount": model.discount,
    }
    arrays = {
        "header": np.array(json.dumps(header)),
        "likelihood": model.likelihood,
        "target": model.target,
        "initial": model.initial,
        "moves": np.array(model.moves),
    }
    if policy.vectors is not None:
        arrays |= {"vectors": policy.vectors.array(), "actions": policy.vectors.actions().astype(np.int8)}
    return arrays


def load_belief_policy(path: Path) -> BeliefPolicy:
    """Read a policy that acts on beliefs; foreign and damaged files are refused."""
    return belief_policy_from(read_npz(path, "a whiffclock policy"), path)


def belief_policy_from(arrays: dict[str, np.ndarray], path: Path) -> BeliefPolicy:
    """Inverse of :func:`belief_policy_arrays`, for the contents of ``path``."""
    header = read_header(arrays, path, "whiffclock policy", dict)
    require(header.get("format") == _FORMAT, f"{path} is not a policy that acts on beliefs.")
    try:
        moves = tuple((int(dx), int(dy)) for dx, dy in arrays["moves"])
        model = GridSearch(arrays["likelihood"], arrays["target"], arrays["initial"], moves, header["discount"])
        name, made_from = header["name"], header["made_from"]
        if name in NEIGHBOURS:
            return neighbour(name, model, made_from)
        require(name == QUASI_OPTIMAL, f"there is no agent called {name!r}")
        vectors = model.vectors()
        own = slice(vectors.first, None)  # after those that every policy begins with
        for vector, action in zip(arrays["vectors"][own], arrays["actions"][own], strict=True):
            vectors.add(0, vector, int(action))
        return quasi_optimal(model, vectors, made_from)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"{path} is a damaged whiffclock policy ({error}).") from error


def _header(path: Path) -> dict[str, Any]:
    arrays = read_npz(path, "a whiffclock policy", only=("header",))
    return read_header(arrays, path, "whiffclock policy", dict)
