"""The paper's claims C1 to C18, tested on the datasets of a run.

Each claim is a statistic over ensembles of agents, an interval for it, and a range in which it must lie; the words
"near", "weakly", "matches" have numbers. Wording and margins are in ``claims.toml``, the rule of decision is in
:mod:`~whiffclock.paper.claims.verdict`, the intervals are in :mod:`~whiffclock.resampling`.

A claim that does not hold on a plume is a finding. A claim with too few agents is undecided, one that agents of a
short training would refute needs full training, and one whose figures the run does not have is not tested.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

import whiffclock
from whiffclock.environments import PAPER, Environments
from whiffclock.formatting import nan_to_null
from whiffclock.paper.claims import recoveries, searches  # noqa: F401
from whiffclock.paper.claims.table import CLAIMS, EVIDENCE, add_claims, evidence
from whiffclock.paper.claims.verdict import Claim, Verdict, decide, without_numbers
from whiffclock.paper.dataset import Datasets, in_order

__all__ = ["CLAIMS", "Claim", "Verdict", "add_claims", "claims_json", "evidence", "judge"]


def judge(data: Datasets, claims: Iterable[Claim] | None = None) -> list[Verdict]:
    """The verdict on every claim, or on some of them, in order."""
    data = in_order(data)
    return [_judge(claim, data) for claim in (CLAIMS.values() if claims is None else claims)]


def _judge(claim: Claim, data: Datasets) -> Verdict:
    absent = [figure for figure in claim.figures if figure not in data.facts["figures"]]
    if absent:
        return without_numbers(claim, "not tested", f"The run has no data of {' and '.join(absent)}.")
    if why := _too_few(claim, data.environments):
        return without_numbers(claim, "not tested", why)
    # The random numbers of a claim depend on its id alone.
    seed = int(claim.id[1:]) if re.fullmatch(r"C\d+", claim.id) else list(claim.id.encode())
    found = EVIDENCE[claim.id](data, claim.margins, np.random.default_rng(seed))
    return decide(claim, found, data.environments, data.facts["episodes"])


def _too_few(claim: Claim, environments: Environments) -> str:
    """Why a claim cannot be tested in some environments; empty if it can."""
    here = f"the plume has {', '.join(environments)}"
    if claim.environments == "paper" and environments.names != PAPER.names:
        return f"The claim is about {', '.join(PAPER)}, and {here}."
    if claim.environments == "trend" and len(environments) < 3:
        return f"A trend needs three environments at least, and {here}."
    if claim.environments == "pair" and environments.pair is None:
        return f"2Q^h is made of agents from two environments, and {here}."
    return ""


def claims_json(
    verdicts: Sequence[Verdict],
    data: Datasets,
    reference: Mapping[str, Verdict] | None = None,
    differences: Sequence[str] = (),
) -> str:
    """Claims with their provenance, as JSON; null where there is no finite number.

    Beside each verdict is that of ``reference``, the full run, if it is there; ``differences`` are those of this run.
    Numbers have ten digits, so that the last bits of a sum do not show.
    """
    facts = data.facts
    full = {name: verdict.verdict for name, verdict in (reference or {}).items()}
    content = {
        "whiffclock": whiffclock.__version__,
        "data_from": facts.pop("version"),
        "plume": {name: facts.pop(name) for name in ("origin", "fingerprint", "shape", "source")},
        "profile": {"name": facts.pop("profile")} | facts,
        "instead_of_full_run": list(differences),
        "claims": [verdict.to_dict() | {"full_run": full.get(verdict.claim.id)} for verdict in verdicts],
    }
    return json.dumps(nan_to_null(content, digits=10), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
