"""The finding in three sentences: from the data alone, and true also where there is little of it."""

from dataclasses import replace

import made_up
import numpy as np
import pytest
from handmade import as_in_the_paper, with_facts

from whiffclock.paper.claims import CLAIMS, judge
from whiffclock.paper.claims.verdict import without_numbers
from whiffclock.paper.dataset import BAYES, CAST, SEARCHED, SINGLE
from whiffclock.paper.page.finding import agents_needed, finding, kicker, main_claims, rewards, undecided

SYNTHETIC = {"origin": "built-in plume, simulated by whiffclock"}


def with_rewards(data, **typical):
    """The same run with a mean G of all agents of a kind, by environment."""
    for kind, values in typical.items():
        name = {"single": SINGLE, "cast": CAST, "bayes": BAYES, "searched": SEARCHED}[kind]
        for environment, value in zip(data.environments, values, strict=True):
            here = {"kind": name, "trained": environment, "tested": environment, "metric": "G"}
            data.searches["mean"].loc[here] = data.searches["mean"].sel(here) * 0 + value
    return data


def verdicts(**words):
    """Verdicts on all claims; those not named are undecided."""
    return [without_numbers(claim, words.get(name, "undecided"), "why") for name, claim in CLAIMS.items()]


def needing(name, *needs):
    """An undecided claim with parts that need so many agents; None: it holds."""
    parts = {str(i): {"outcome": "undecided" if n else "holds", "needs": n or np.nan} for i, n in enumerate(needs)}
    return replace(without_numbers(CLAIMS[name], "undecided", "why"), details={"parts": parts, "also": {}})


@pytest.fixture
def run():
    made = made_up.datasets(**SYNTHETIC)
    single, cast, bayes = (0.7, 0.6, 0.8, 0.5), (0.65, 0, 0, 0.45), (0.9, 0, 0, 0.85)
    return with_rewards(made, single=single, cast=cast, bayes=bayes)


def test_rewards_stand_beside_both_baselines(run):
    assert rewards(run) == (
        "The typical clock agent (single-Q, median of 5) earns a reward G of 0.70 in denser to 0.50 in sparser; tuned "
        "cast-and-surge earns 0.65 to 0.45 and the Bayesian agent, which remembers everything, earns 0.90 to 0.85."
    )


def test_a_searched_clock_is_told_with_the_distance_that_it_closes(run, monkeypatch):
    beyond = with_rewards(made_up.beyond(), searched=(0.8, 0, 0, 0.75))
    monkeypatch.setattr("whiffclock.paper.page.finding.closed", lambda data: {"a": 0.5, "b": np.nan, "c": 0.254})
    told = rewards(replace(run, beyond=beyond))
    assert told.startswith(rewards(run))
    assert told.endswith(
        " A clock whose program was searched directly instead of learned earns 0.80 to 0.75 and closes 25% to 50% of "
        "the distance from single-Q to the Bayesian agent, on snapshots that the search has not seen."
    )
    monkeypatch.setattr("whiffclock.paper.page.finding.closed", lambda data: {"a": np.nan})
    assert rewards(replace(run, beyond=beyond)).endswith(
        "learned earns 0.80 to 0.75, on snapshots that the search has not seen."
    )


def test_a_baseline_that_was_not_computed_is_not_mentioned(run):
    run.searches["mean"].loc[{"kind": BAYES}] = np.nan
    assert rewards(run).endswith("0.50 in sparser; tuned cast-and-surge earns 0.65 to 0.45.")
    run.searches["mean"].loc[{"kind": CAST}] = np.nan
    assert rewards(run).endswith("earns a reward G of 0.70 in denser to 0.50 in sparser.")
    run.searches["mean"].loc[{"kind": SINGLE, "trained": "dense"}] = np.nan
    assert rewards(run) == ""


def test_of_a_run_beyond_the_paper_alone_all_rewards_are_from_there():
    nothing = made_up.datasets(figures=[])
    nothing.searches["mean"][:] = np.nan
    beyond = with_rewards(made_up.beyond(), single=(0.4,) * 4, cast=(0.3,) * 4, searched=(0.6,) * 4)
    told = rewards(replace(nothing, beyond=beyond))
    assert "a reward G of 0.40 in denser to 0.40 in sparser; tuned cast-and-surge earns 0.30 to 0.30" in told
    assert "learned earns 0.60 to 0.60" in told


def test_one_environment_has_one_number(run):
    alone = made_up.in_environments(run, {"faint": 1e-3})
    told = finding(alone, judge(alone), {})
    assert "earns a reward G of 0.70 in faint; tuned cast-and-surge earns 0.65 and" in told["Reward"]
    assert "not tested" in told["Undecided"]


def test_claims_are_named_by_their_titles(run):
    found = verdicts(C5="holds", C13="holds", C2="does not hold", C9="holds")
    five, thirteen, two = (f"“{CLAIMS[name].title}” ({name})" for name in ("C5", "C13", "C2"))
    told = f"Of the paper’s main claims these hold: {five} and {thirteen}. These do not: {two}."
    assert main_claims(run, found) == told
    users = with_facts(run, origin="wind tunnel.h5")
    told = (
        f"Of the paper’s main claims, which are about its own plume, these hold on this plume: {five} and {thirteen}."
    )
    assert main_claims(users, found[2:]) == told
    assert main_claims(run, verdicts(C2="does not hold")).endswith(f"none holds for sure. These do not hold: {two}.")
    assert main_claims(run, verdicts()) == "Of the paper’s main claims this run decides none."
    assert main_claims(run, verdicts(**dict.fromkeys(CLAIMS, "not tested"))) == ""


def test_what_is_undecided_has_its_reason(run):
    few = [needing("C3", 30, None, 78.0), needing("C10", 16), needing("C1", 2232.0, 14), needing("C9", np.nan, 12)]
    short = replace(verdicts()[10], verdict="needs full training")
    told = undecided(run, [*few, short, *verdicts(C5="holds")[4:5]], {})
    assert told == (
        "This run cannot decide 5 of 6 claims: C11 needs the paper’s full training (this run has 0.033% of it); C3 and "
        "C10 need more than the 5 agents of each kind (about 16 to 78); C1 needs more than 1,000 agents; for C9 "
        "more agents are not enough, as explained there."
    )
    full = {"C3": replace(few[0], verdict="holds"), "C10": few[1], "C1": replace(few[2], verdict="does not hold")}
    assert undecided(run, few, full).endswith("The shipped full run decides 2 of them.")


def test_a_claim_needs_as_many_agents_as_the_hardest_of_its_open_parts():
    assert agents_needed(needing("C1", 14, 20, None)) == 20
    assert np.isnan(agents_needed(needing("C1", 14, np.nan)))
    assert np.isnan(agents_needed(verdicts()[0]))


def test_when_everything_holds_nothing_is_undecided(run):
    found = verdicts(**dict.fromkeys(CLAIMS, "holds"))
    told = finding(run, found, {})
    assert told["Undecided"] == "Nothing: this run decides all 18 claims."
    assert "do not" not in told["Claims"]
    assert list(told) == ["Reward", "Claims", "Undecided"]


def test_claims_that_were_not_tested_are_counted_apart(run):
    one = verdicts(**dict.fromkeys(CLAIMS, "holds") | {"C4": "not tested"})
    assert undecided(run, one, {}) == "One claim is not tested: the run does not have the data for that."
    none = verdicts(**dict.fromkeys(CLAIMS, "not tested"))
    assert undecided(run, none, {}).startswith("18 claims are not tested")
    assert undecided(run, [], {}) == ""


def test_the_finding_of_a_run_in_which_all_holds_is_that_of_its_verdicts():
    data = as_in_the_paper()
    told = finding(data, judge(data), {})
    assert all(f"({name})" in told["Claims"] for name in ("C1", "C2", "C5", "C6", "C7", "C8", "C13"))


def test_the_kicker_says_how_much_was_trained(run):
    assert kicker(with_facts(run, episodes=300_000)) == "Two-minute demonstration: 10% of the paper’s training"
    told = kicker(with_facts(run, profile="standard", episodes=1_200_000))
    assert told == "Reproduction: 40% of the paper’s training"
    told = kicker(with_facts(run, profile="deep", episodes=3_000_001, seeds=100))
    assert told == "Reproduction: 100 agents of each kind (the paper: 20)"
