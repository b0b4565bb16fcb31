"""The finding of a run in three sentences: rewards, the main claims, and what the run cannot decide.

Sentences are plain text; the name of a claim in them (C5) becomes a link on the page.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from whiffclock.formatting import number
from whiffclock.paper.beyond.verdicts import closed
from whiffclock.paper.claims import Verdict
from whiffclock.paper.dataset import BAYES, CAST, PAPER_AGENTS, SEARCHED, SINGLE, Datasets, where_trained
from whiffclock.paper.figures.captions import ends_of, listing
from whiffclock.params import LearningSettings

#: The claims that the finding names: on rewards, on the recovery path and on failures.
_MAIN = ("C1", "C2", "C5", "C6", "C7", "C8", "C13")
#: Beyond so many agents, no number is given.
_MOST_AGENTS = 1000
_DECIDED, _TO_TRAIN = ("holds", "does not hold"), "needs full training"


def finding(data: Datasets, verdicts: Sequence[Verdict], reference: Mapping[str, Verdict]) -> dict[str, str]:
    """The sentences by their first word; those for which the run has no data are left out."""
    found = {"Reward": rewards(data), "Claims": main_claims(data, verdicts)}
    found["Undecided"] = undecided(data, verdicts, reference)
    return {name: text for name, text in found.items() if text}


def kicker(data: Datasets) -> str:
    """What kind of run it is, in a few words."""
    facts, share = data.facts, training(data)
    what = "Two-minute demonstration" if facts["profile"] == "quick" else "Reproduction"
    what = what if data.synthetic else "The paper’s agents on your plume"
    if facts["episodes"] < LearningSettings.episodes:
        return f"{what}: {share} of the paper’s training"
    return f"{what}: {number(facts['seeds'])} agents of each kind (the paper: {PAPER_AGENTS})"


def training(data: Datasets) -> str:
    """The length of the trainings as a share of the paper's: 10%."""
    return f"{100 * data.facts['episodes'] / LearningSettings.episodes:.2g}%"


def rewards(data: Datasets) -> str:
    """Reward G of single-Q agents beside cast-and-surge, the Bayesian agent and searched clocks."""
    run = data if data.beyond is None or _reward(data, SINGLE) is not None else data.beyond
    single = _reward(run, SINGLE)
    if single is None:
        return ""
    agents = where_trained(run.searches["mean"], SINGLE).sel(metric="G").notnull().sum("agent").max().item()
    text = f"The typical clock agent (single-Q, median of {agents}) earns a reward G of {_along(single, named=True)}"
    others = {"tuned cast-and-surge": CAST, "the Bayesian agent, which remembers everything,": BAYES}
    found = {name: _reward(run, kind) for name, kind in others.items()}
    told = [f"{name} earns {_along(values)}" for name, values in found.items() if values is not None]
    return text + (f"; {listing(told)}" if told else "") + "." + _searched(data.beyond)


def _searched(beyond: Datasets | None) -> str:
    """Reward of searched clocks, and how much of the distance to the Bayesian agent they close."""
    found = None if beyond is None else _reward(beyond, SEARCHED)
    if beyond is None or found is None:
        return ""
    text = f" A clock whose program was searched directly instead of learned earns {_along(found)}"
    shares = sorted(share for share in closed(beyond).values() if math.isfinite(share))
    if shares:
        low, high = (f"{share:.0%}" for share in ends_of(shares))
        distance = low if low == high else f"{low} to {high}"
        text += f" and closes {distance} of the distance from single-Q to the Bayesian agent"
    return f"{text}, on snapshots that the search has not seen."


def _reward(data: Datasets, kind: str) -> xr.DataArray | None:
    """Median G in each environment, from dense to sparse; None if any is missing."""
    if kind not in data.searches["kind"].values:
        return None
    found = where_trained(data.searches["mean"], kind).sel(metric="G", environment=list(data.environments))
    medians = found.median("agent")
    return None if bool(medians.isnull().any()) else medians


def _along(values: xr.DataArray, *, named: bool = False) -> str:
    """Values in the densest and the sparsest environment: "0.71 in dense to 0.57 in sparse", or without the names."""
    pairs = ends_of(zip(values["environment"].values.tolist(), values.values.tolist(), strict=True))
    told = [number(value, ".2f") + (f" in {name}" if named else "") for name, value in pairs]
    return " to ".join(told if values.size > 1 else told[:1])


def main_claims(data: Datasets, verdicts: Sequence[Verdict]) -> str:
    """Which of the main claims hold and which do not, by their titles."""
    chosen = [one for one in verdicts if one.claim.id in _MAIN and one.verdict != "not tested"]
    if not chosen:
        return ""
    which = "main claims" if data.synthetic else "main claims, which are about its own plume,"
    here = "" if data.synthetic else " on this plume"
    hold, refuted = ([one for one in chosen if one.verdict == word] for word in _DECIDED)
    if not hold and not refuted:
        return f"Of the paper’s {which} this run decides none{here}."
    if not hold:
        return f"Of the paper’s {which} none holds for sure{here}. These do not hold: {_titles(refuted)}."
    text = f"Of the paper’s {which} these hold{here}: {_titles(hold)}."
    return text + (f" These do not: {_titles(refuted)}." if refuted else "")


def _titles(verdicts: Sequence[Verdict]) -> str:
    return listing(f"“{one.claim.title}” ({one.claim.id})" for one in verdicts)


def undecided(data: Datasets, verdicts: Sequence[Verdict], reference: Mapping[str, Verdict]) -> str:
    """What the run cannot decide, and why: the length of training, the number of agents, or what was not computed."""
    tested = [one for one in verdicts if one.verdict != "not tested"]
    open_ones = [one for one in tested if one.verdict not in _DECIDED]
    count, missing = len(verdicts), len(verdicts) - len(tested)
    absent = f" {_not_tested(missing)} not tested: the run does not have the data for that." if missing else ""
    if not tested:
        return absent.strip()
    if not open_ones:
        return f"Nothing: this run decides all {count} claims." if not missing else absent.strip()
    text = f"This run cannot decide {len(open_ones)} of {count} claims: {'; '.join(_reasons(data, open_ones))}."
    full = [reference[one.claim.id].verdict for one in open_ones if one.claim.id in reference]
    decided = [word for word in full if word in _DECIDED]
    return text + (f" The shipped full run decides {len(decided)} of them." if decided else "") + absent


def _reasons(data: Datasets, verdicts: Sequence[Verdict]) -> list[str]:
    """Why claims are open, each reason with its claims."""
    trained = [one.claim.id for one in verdicts if one.verdict == _TO_TRAIN]
    needs = {one.claim.id: agents_needed(one) for one in verdicts if one.verdict != _TO_TRAIN}
    some = {name: n for name, n in needs.items() if n <= _MOST_AGENTS}
    many = [name for name, n in needs.items() if n > _MOST_AGENTS]
    other = [name for name, n in needs.items() if math.isnan(n)]
    told = []
    if trained:
        told.append(f"{_need(trained)} the paper’s full training (this run has {training(data)} of it)")
    if some:
        low, high = min(some.values()), max(some.values())
        about = f"about {low:,.0f}" + (f" to {high:,.0f}" if high > low else "")
        told.append(f"{_need([*some])} more than the {number(data.facts['seeds'])} agents of each kind ({about})")
    if many:
        told.append(f"{_need(many)} more than {_MOST_AGENTS:,} agents")
    if other:
        told.append(f"for {listing(other)} more agents are not enough, as explained there")
    return told


def agents_needed(verdict: Verdict) -> float:
    """Agents that would decide all open parts of a claim; NaN where agents are not all that is missing."""
    parts = verdict.details["parts"].values()
    needs = [part.get("needs", np.nan) for part in parts if part["outcome"] not in _DECIDED]
    return float(np.max(needs)) if needs else np.nan


def _need(names: Sequence[str]) -> str:
    return f"{listing(names)} need{'s' if len(names) == 1 else ''}"


def _not_tested(count: int) -> str:
    return "One claim is" if count == 1 else f"{count} claims are"
