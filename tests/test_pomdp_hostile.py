"""Models and policies that are damaged, enormous, endless or not files at all: refused in one sentence, at once."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from small_pomdps import TIGER, check_proper, random_tables, rover, saved, tiger
from test_pomdp_policyfile import ALPHA, PLANES

from whiffclock.params import InputError
from whiffclock.pomdp.blocks import BlockModel, from_pieces, to_pieces
from whiffclock.pomdp.bounds import blind_policies, fast_informed_bound, fully_observed, worst_value
from whiffclock.pomdp.deadline import Deadline
from whiffclock.pomdp.files import read_model
from whiffclock.pomdp.files.policyfile import read_policy, write_policy
from whiffclock.pomdp.solver import SolverSettings, solve


def preamble(states: int, actions: int = 2, observations: int = 2, discount: str = "0.95") -> str:
    counts = f"states: {states}\nactions: {actions}\nobservations: {observations}\n"
    return f"discount: {discount}\nvalues: reward\n{counts}"


# Large


def test_a_large_identity_is_sparse(tmp_path: Path) -> None:
    text = preamble(30_000) + "T: * identity\nT: 1 : 7 : * 0\nT: 1 : 7 : 8 1\nO: * : * : 1 1\nR: 0 : 5 : * : * 1\n"
    tables = read_model(saved(tmp_path, text))
    assert [matrix.nnz for matrix in (*tables.transition, *tables.observation)] == [30_000] * 4
    assert tables.transition[1][7, 8] == tables.transition[0][7, 7] == 1
    model = BlockModel(tables)
    assert model.megabytes < 10
    solution = solve(model, SolverSettings(seconds=None, backups=1))
    check_proper(solution)
    assert solution.lower == pytest.approx(20 / 30_000, rel=1e-3)


def test_many_blocks_are_quick(tmp_path: Path) -> None:
    """All is seen: every state is a block of its own, and the first belief has as many children."""
    n = 2000
    text = preamble(n, 2, n) + "T: * identity\nO: * : * : 0 0\n"
    text += "".join(f"O: * : {i} : {i} 1\n" for i in range(n)) + "R: 0 : 5 : * : * 1\n"
    model = BlockModel(read_model(saved(tmp_path, text)))
    assert model.n_blocks == n + 1
    solution = solve(model, SolverSettings(seconds=None, backups=3, gap=1e-9))
    assert solution.lower == pytest.approx(20 / n)
    path = tmp_path / "p.policy"
    write_policy(path, model.tables, to_pieces(model, solution.vectors), floor=worst_value(model))
    start = from_pieces(model, read_policy(path, model.tables))
    assert len(path.read_text().splitlines()) < 20
    again = solve(model, SolverSettings(seconds=None, backups=0), start)
    assert again.history[0].lower == pytest.approx(solution.lower)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (preamble(100_000) + "T: * uniform\n", "line 6: .*would take 1,490.1 GiB of memory, and 4 GiB are allowed"),
        (preamble(100_000, 2, 100_000) + "T: * identity\nO: * uniform\n", "line 7: .* GiB of memory"),
        (preamble(20_000, 1000), "line 3: states times actions are 20,000,000"),
        (preamble(10**9), "line 3: '1000000000' is not a possible number of states"),
        (preamble(800, 1, 800) + "T: 0 uniform\nO: 0 uniform\n", "512,000,000 ways .* GiB of memory"),
    ],
)
def test_what_needs_too_much_memory_is_not_begun(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        BlockModel(read_model(saved(tmp_path, text)))


def many(variables: int, values: int) -> str:
    """A PomdpX file with many variables, all of them observed again by a noisy twin."""
    names = range(variables)
    state = '<StateVar vnamePrev="x{0}" vnameCurr="y{0}"><NumValues>{1}</NumValues></StateVar>'
    seen = '<ObsVar vname="o{0}"><NumValues>{1}</NumValues></ObsVar>'
    cond = "<CondProb><Var>{}</Var><Parent>{}</Parent><Parameter><Entry><Instance>{}</Instance>"
    cond += "<ProbTable>{}</ProbTable></Entry></Parameter></CondProb>"
    return (
        "<pomdpx><Discount>0.9</Discount><Variable>"
        + "".join(state.format(i, values) + seen.format(i, values) for i in names)
        + '<ActionVar vname="a"><NumValues>1</NumValues></ActionVar><RewardVar vname="r"/></Variable>'
        + f"<InitialStateBelief>{''.join(cond.format(f'x{i}', 'null', '-', 'uniform') for i in names)}"
        + "</InitialStateBelief><StateTransitionFunction>"
        + "".join(cond.format(f"y{i}", f"x{i}", "- -", "identity") for i in names)
        + "</StateTransitionFunction><ObsFunction>"
        + "".join(cond.format(f"o{i}", f"y{i}", "- -", "uniform") for i in names)
        + "</ObsFunction><RewardFunction><Func><Var>r</Var><Parent>a</Parent><Parameter><Entry><Instance>a0</Instance>"
        + "<ValueTable>1</ValueTable></Entry></Parameter></Func></RewardFunction></pomdpx>"
    )


def test_variables_multiply(tmp_path: Path) -> None:
    model = read_model(saved(tmp_path, many(3, 3), "m.pomdpx"))
    assert len(model.states) == len(model.observations) == 27
    assert model.observations[5] == "o0,o1,o2"
    with pytest.raises(InputError, match="joint states"):
        read_model(saved(tmp_path, many(60, 3), "m.pomdpx"))
    with pytest.raises(InputError, match=r"ways to move or observe would take .* GiB"):
        read_model(saved(tmp_path, many(4, 16), "m.pomdpx"))


# Endless, deep, or no files


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    model = tiger()
    for suffix in ("pomdp", "pomdpx", "policy"):
        fifo, device, folder, long = (tmp_path / f"{name}.{suffix}" for name in ("fifo", "zero", "folder", "long"))
        os.mkfifo(fifo)
        device.symlink_to("/dev/zero")
        folder.mkdir()
        long.touch()
        os.truncate(long, 2**30)
        told = {
            fifo: "not a regular file",
            device: "not a regular file",
            folder: "a folder",
            long: "too long: it has 1,024",
        }
        for path, reason in {**told, tmp_path / f"none.{suffix}": "There is no file"}.items():
            with pytest.raises(InputError, match=reason):
                read_policy(path, model) if suffix == "policy" else read_model(path)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("m.pomdpx", "<pomdpx>" + "<a>\n" * 10_000, "line 200: elements are nested more than 200 deep"),
        ("p.policy", "<Policy>" + "<a>\n" * 10_000, "line 200: elements are nested more than 200 deep"),
        ("p.policy", "{ a => " * 10_000, "nested too deeply"),
        ("p.policy", "[" * 10_000, "nested too deeply"),
        ("m.pomdpx", "<!DOCTYPE p [<!ENTITY a 'b'>]><pomdpx>&a;</pomdpx>", "line 1: an entity is declared"),
        ("m.pomdpx", "<?xml version='1.0' encoding='none'?><pomdpx/>", "line 1: .*encoding"),
        ("m.pomdp", TIGER.replace("0.95", "1"), "line 1: the discount is 1; .* choose one close to 1, such as 0.999"),
        (
            "m.pomdpx",
            rover().replace("<Discount>0.9<", "<Discount>1.0<"),
            "the discount is 1; .* choose one close to 1, such as 0.999",
        ),
    ],
)
def test_depth_and_other_traps(tmp_path: Path, name: str, text: str, reason: str) -> None:
    path = saved(tmp_path, text, name)
    with pytest.raises(InputError, match=reason) as error:
        read_policy(path, tiger()) if name.endswith("policy") else read_model(path)
    assert "\n" not in str(error.value)


# Damaged

_WORDS = ["0", "-1", "1e308", "1e999", "nan", "2000000", "*", "-", "uniform", "identity", "reset", ":", "T", "start"]
_WORDS += ["\0", "é", '"', "<", "&", "<!--", "<![CDATA[", "{", "]", "=>", ",", "#", "x" * 300, "1_000", "١", "<DAG>"]


def damaged(text: str, rng: random.Random) -> str:
    """``text`` with a word or number replaced, a line lost, repeated or moved, something inserted, or cut off."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        lines, at = text.split("\n"), rng.randrange(len(text) + 1)
        words = list(re.finditer(r"[^\s<>]+", text)) or [re.match("", text)]
        word = rng.choice(words)
        edits = [
            text[: word.start()] + rng.choice(_WORDS) + text[word.end() :],  # type: ignore[union-attr]
            text[:at] + rng.choice(_WORDS) + text[at:],
            text[:at] + text[at + rng.choice((1, 20)) :],
            text[:at],
            "\n".join(rng.sample(lines, len(lines) - 1)) if rng.random() < 0.2 else "\n".join(lines[1:]),
            "\n".join([*lines, rng.choice(lines)]),
        ]
        text = rng.choice(edits) or " "
    return text


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("name", "text"),
    [("m.pomdp", TIGER), ("m.pomdpx", rover()), ("alpha.policy", ALPHA), ("planes.policy", PLANES)],
)
def test_damage_is_refused_or_harmless(tmp_path: Path, name: str, text: str, seed: int) -> None:
    rng, whole = random.Random(seed), read_model(saved(tmp_path, rover(), "rover.pomdpx"))
    refused = []
    for _ in range(10):
        path = tmp_path / name
        path.write_bytes(damaged(text, rng).encode("utf-8", "surrogatepass"))
        try:
            if name.endswith("policy"):
                assert all(np.isfinite(piece.values).all() for piece in read_policy(path, whole))
            else:
                BlockModel(read_model(path))
        except InputError as error:
            refused.append(str(error))
    assert refused
    for sentence in refused:
        assert sentence.startswith((str(tmp_path / name), "A model", "A belief"))
        assert "\n" not in sentence


# Time


def test_bounds_hold_however_early_they_must_be_ready() -> None:
    for seed in range(5):
        model = BlockModel(random_tables(seed, 0.999))
        for until in (Deadline(0), Deadline(-1), Deadline(cpu=0)):
            assert (blind_policies(model, until) <= blind_policies(model) + 1e-6).all()
            assert (fully_observed(model, until) >= fully_observed(model) - 1e-6).all()
            assert (fast_informed_bound(model, until) >= fast_informed_bound(model) - 1e-6).all()


@pytest.mark.parametrize("discount", [0.95, 0.99999])
def test_without_time_there_are_bounds_all_the_same(discount: float) -> None:
    model = BlockModel(random_tables(3, discount))
    solution, better = (solve(model, SolverSettings(seconds=s, backups=b)) for s, b in ((0, None), (None, 100)))
    assert solution.loose_first_bounds
    assert not better.loose_first_bounds
    check_proper(solution)
    assert solution.lower <= better.upper + 1e-6
    assert better.lower <= solution.upper + 1e-6
