"""Policies of any kind in files."""

import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from whiffclock import __version__
from whiffclock.agents.bayes import HEURISTICS, QUASI_OPTIMAL, BeliefPolicy, belief_heuristic, quasi_optimal
from whiffclock.archive import array_named, first_line, read_header, read_npz, require_digest, write_npz
from whiffclock.params import InputError, convert, require
from whiffclock.policy import Format, Name, Origin, Policy, TablePolicy
from whiffclock.pomdp.gridsearch import GridSearch, GridVectors
from whiffclock.world.moves import MOVES

#: The current format, and that of files without a digest.
_FORMAT, _FIRST_FORMAT = "whiffclock belief policy 2", "whiffclock belief policy 1"


class _Header(msgspec.Struct):
    """Header of a policy that acts on beliefs."""

    name: Name
    made_from: dict[str, Any]
    discount: Annotated[float, msgspec.Meta(gt=0, lt=1)]


def load_policy(path: Path) -> Policy:
    """The policy in a file, of any kind."""
    arrays = read_npz(path, "a whiffclock policy", only=("header",))
    form = read_header(arrays, path, "whiffclock policy", Format).format
    return load_belief_policy(path) if form in (_FORMAT, _FIRST_FORMAT) else TablePolicy.load(path)


def save_belief_policy(path: Path, policy: BeliefPolicy) -> None:
    """Write a policy that acts on beliefs."""
    write_npz(path, belief_policy_arrays(policy))


def load_belief_policy(path: Path) -> BeliefPolicy:
    """Read a policy that acts on beliefs; other files and damaged ones are refused."""
    arrays = read_npz(path, "a whiffclock policy")
    policy = belief_policy_from(arrays, path)
    if read_header(arrays, path, "whiffclock policy", Format).format == _FORMAT:
        require_digest(arrays, path, "whiffclock policy")
    return policy


def belief_policy_arrays(policy: BeliefPolicy) -> dict[str, np.ndarray]:
    """A policy that acts on beliefs as named arrays: its model, and its alpha vectors if it has any."""
    model, name, made_from = policy.model, policy.name, policy.made_from
    header = {"format": _FORMAT, "version": __version__, "name": name, "made_from": made_from}
    arrays = {"header": np.array(json.dumps(header | {"discount": model.discount}))}
    arrays |= {part: np.asarray(getattr(model, part)) for part in ("likelihood", "target", "initial", "moves")}
    if policy.vectors is not None:
        arrays |= {"vectors": policy.vectors.array(), "actions": policy.vectors.actions().astype(np.int8)}
    return arrays


def belief_policy_from(arrays: dict[str, np.ndarray], path: Path) -> BeliefPolicy:
    """Inverse of :func:`belief_policy_arrays`, for the contents of ``path``."""
    form = read_header(arrays, path, "whiffclock policy", Format).format
    require(form in (_FORMAT, _FIRST_FORMAT), f"{path} is not a policy that acts on beliefs.")
    header = read_header(arrays, path, "whiffclock policy", _Header)
    try:
        convert(header.made_from, Origin, "its origin is wrong")
        model = _model(arrays, header.discount)
        if header.name in HEURISTICS:
            return belief_heuristic(header.name, model, header.made_from)
        require(header.name == QUASI_OPTIMAL, f"there is no agent called {header.name!r}")
        actions = array_named(arrays, "actions", "iu", (None,), 0, len(MOVES) - 1)
        require(len(actions) > 0, "it has no alpha vectors")
        vectors = array_named(arrays, "vectors", "f", (len(actions), model.target.size))
        require(bool(np.isfinite(vectors).all()), "a vector has a value that is not finite")
        return quasi_optimal(model, GridVectors(model, vectors, actions), header.made_from)
    except InputError as error:
        raise InputError(f"{path} is a damaged whiffclock policy ({first_line(error)}).") from error


def _model(arrays: dict[str, np.ndarray], discount: float) -> GridSearch:
    likelihood = array_named(arrays, "likelihood", "f", (2, None, None), 0, 1)
    target = array_named(arrays, "target", "b", likelihood.shape[1:])
    initial = array_named(arrays, "initial", "f", likelihood.shape[1:], 0, 1)
    moves = array_named(arrays, "moves", "iu", np.shape(MOVES))
    require(np.array_equal(moves, MOVES), "its moves are not those of a searcher")
    return GridSearch(likelihood, target, initial, MOVES, discount)
