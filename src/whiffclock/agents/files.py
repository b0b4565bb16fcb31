"""Policies of any kind in files."""

import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from whiffclock import __version__
from whiffclock.agents.bayes import HEURISTICS, QUASI_OPTIMAL, BeliefPolicy, belief_heuristic, quasi_optimal
from whiffclock.archive import first_line, read_header, read_npz, write_npz
from whiffclock.params import InputError, convert, require
from whiffclock.policy import MOVES, Format, Origin, Policy, TablePolicy
from whiffclock.pomdp.gridsearch import GridSearch, GridVectors

_FORMAT = "whiffclock belief policy 1"


class _Header(msgspec.Struct):
    """Header of a policy that acts on beliefs."""

    name: str
    made_from: dict[str, Any]
    discount: Annotated[float, msgspec.Meta(gt=0, lt=1)]


def load_policy(path: Path) -> Policy:
    """The policy in a file, of any kind."""
    arrays = read_npz(path, "a whiffclock policy", only=("header",))
    form = read_header(arrays, path, "whiffclock policy", Format).format
    return load_belief_policy(path) if form == _FORMAT else TablePolicy.load(path)


def save_belief_policy(path: Path, policy: BeliefPolicy) -> None:
    """Write a policy that acts on beliefs."""
    write_npz(path, belief_policy_arrays(policy))


def load_belief_policy(path: Path) -> BeliefPolicy:
    """Read a policy that acts on beliefs; foreign and damaged files are refused."""
    return belief_policy_from(read_npz(path, "a whiffclock policy"), path)


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
    require(form == _FORMAT, f"{path} is not a policy that acts on beliefs.")
    header = read_header(arrays, path, "whiffclock policy", _Header)
    try:
        convert(header.made_from, Origin, "its origin is wrong")
        model = _model(arrays, header.discount)
        if header.name in HEURISTICS:
            return belief_heuristic(header.name, model, header.made_from)
        require(header.name == QUASI_OPTIMAL, f"there is no agent called {header.name!r}")
        vectors, actions = _array(arrays, "vectors", "f", 2), _array(arrays, "actions", "iu", 1)
        require(
            vectors.shape == (len(actions), model.target.size) and len(actions) > 0,
            f"it has {len(actions)} actions, and vectors of shape {vectors.shape} for {model.target.size} cells",
        )
        require(bool(np.isfinite(vectors).all()), "a vector has a value that is not finite")
        require(bool(((actions >= 0) & (actions < len(MOVES))).all()), "an action is unknown")
        return quasi_optimal(model, GridVectors(model, vectors, actions), header.made_from)
    except InputError as error:
        raise InputError(f"{path} is a damaged whiffclock policy ({first_line(error)}).") from error


def _model(arrays: dict[str, np.ndarray], discount: float) -> GridSearch:
    likelihood, moves = _array(arrays, "likelihood", "f", 3), _array(arrays, "moves", "iu", 2)
    require(len(likelihood) == 2, f"it has likelihoods of {len(likelihood)} observations instead of two")
    require(np.array_equal(moves, MOVES), "its moves are not those of a searcher")
    return GridSearch(likelihood, _array(arrays, "target", "b", 2), _array(arrays, "initial", "f", 2), MOVES, discount)


def _array(arrays: dict[str, np.ndarray], name: str, kinds: str, ndim: int) -> np.ndarray:
    """The array ``name``, whose type is one of ``kinds``."""
    require(name in arrays, f"it has no {name}")
    array = arrays[name]
    require(array.dtype.kind in kinds and array.ndim == ndim, f"its {name} are {array.ndim}-dimensional {array.dtype}")
    return array
