"""Claims: each known to hold, known to fail, and not to be decided by few; numbers by another route."""

import io
import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from handmade import BROKEN, INITIATION, SURGE, as_in_the_paper
from rich.console import Console
from whiffclock.experiments.profiles import PROFILES

from whiffclock.paper.claims import CLAIMS, claims_json, judge, judge_one
from whiffclock.paper.claims.bayes import _Histories
from whiffclock.paper.claims.places import last_whiff, plus_prefers_long
from whiffclock.paper.claims.resampling import Draws, Strata, interval, last, median, trend
from whiffclock.paper.claims.verdict import Claim, Evidence, Part, decide
from whiffclock.paper.tables import claims_table

PAPER = PROFILES["paper"]
PLUME = {"origin": "an odor", "fingerprint": "f00d", "shape": [10, 40, 9], "source": [0, 4], "highest": 1.0}
BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.fixture(scope="module")
def paper():
    return as_in_the_paper()


def verdict(results, name, profile=PAPER):
    return judge_one(BY_ID[name], results, profile)


def test_there_are_eighteen_claims_in_order():
    assert [claim.id for claim in CLAIMS] == [f"C{i}" for i in range(1, 19)]


@pytest.mark.parametrize("name", BY_ID)
def test_a_claim_holds_where_results_are_as_in_the_paper(paper, name):
    found = verdict(paper, name)
    assert found.verdict == "holds", found.why
    low, high = found.interval
    assert low <= found.value <= high


@pytest.mark.parametrize(("name", "i"), [(name, i) for name, changes in BROKEN.items() for i in range(len(changes))])
def test_a_claim_does_not_hold_where_results_are_otherwise(paper, name, i):
    results = deepcopy(paper)
    BROKEN[name][i](results)
    found = verdict(results, name)
    assert found.verdict == "does not hold", found.why
    assert found.details["parts"][found.part]["outcome"] == "does not hold"


@pytest.mark.parametrize("name", BY_ID)
def test_few_agents_decide_nothing(name):
    found = verdict(as_in_the_paper(n=3, strata=3, branches=6), name)
    assert found.verdict == "not decidable", found.why
    assert found.why.endswith(".")


@pytest.mark.parametrize("name", BY_ID)
def test_a_claim_without_its_figure_is_not_decidable(name):
    found = verdict({}, name)
    assert found.verdict == "not decidable"
    assert all(figure in found.why for figure in BY_ID[name].figures)
    assert np.isnan(found.value)


def test_scatter_leaves_a_claim_open(paper):
    results = deepcopy(paper)
    results["fig2"]["single_strata"][1, :6, :, 0] = 0.3
    assert verdict(results, "C1").verdict == "not decidable"


def test_without_branches_the_claim_on_them_is_open(paper):
    results = deepcopy(paper)
    for name in list(results["fig8"].arrays):
        results["fig8"].arrays[name] = results["fig8"][name][:0]
    assert verdict(results, "C17").verdict == "not decidable"
    assert "no whiff" in verdict(results, "C17").why


def test_a_short_training_does_not_decide_on_three_million_episodes(paper):
    found = verdict(paper, "C4", PROFILES["quick"])
    assert found.verdict == "not decidable"
    assert "250,000" in found.why
    assert abs(found.value) < 0.02


def test_a_trend_that_is_not_there_cannot_survive(paper):
    results = deepcopy(paper)
    results["fig3"]["geometry"][...] = 7
    found = verdict(results, "C18")
    assert found.verdict == "not decidable"
    assert "in the first place" in found.why


def test_the_gain_over_cast_and_surge_by_another_route(paper):
    single, cast = paper["fig2"]["single_strata"], paper["fig2"]["cast_strata"]
    parts = verdict(paper, "C1").details["parts"]
    for e, name in enumerate(parts):
        gains = [sum(agent[t, 0] - cast[e, t, 0] for t in range(len(agent))) / len(agent) for agent in single[e]]
        assert parts[name]["value"] == pytest.approx(sorted(gains)[5] / 2 + sorted(gains)[6] / 2)


@pytest.mark.parametrize("column", [SURGE, INITIATION])
def test_the_trend_by_another_route(paper, column):
    values = paper["fig3"]["geometry"][..., column]
    assert np.isnan(values).any() == (column == INITIATION)
    pairs = []
    for i in range(4):
        for j in range(i + 1, 4):
            signs = []
            for a in values[i]:
                for b in values[j]:
                    a_rank, b_rank = (1e9 if np.isnan(v) else v for v in (a, b))
                    signs.append(int(b_rank > a_rank) - int(b_rank < a_rank))
            pairs.append(sum(signs) / len(signs))
    found = verdict(paper, "C5" if column == SURGE else "C6")
    part = "surge length" if column == SURGE else "backtracking initiation"
    assert found.details["parts"][part]["value"] == pytest.approx(sum(pairs) / 6)


def test_never_returning_is_the_latest_return():
    rng = np.random.default_rng(0)
    early, never = np.full(8, 10.0), np.full(8, np.nan)
    assert trend([last(one) for one in (early, early + 1, early + 2, never)], rng).value == 1
    assert trend([last(never)] * 4, rng).value == 0


def test_last_whiffs_by_another_route(paper):
    rng = np.random.default_rng(1)
    lost = rng.integers(0, 6, (3, 40)).astype(float)
    for counts, found in zip(lost, last_whiff(paper["fig3"], lost), strict=True):
        places = np.repeat(np.arange(40), counts.astype(int))
        assert found * 39 == pytest.approx(np.quantile(places, 0.5, method="inverted_cdf"))
    assert np.isnan(last_whiff(paper["fig3"], np.eye(40)[:1])).all()


def test_preference_of_modes_by_another_route():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 5, (2, 2, 8))
    for agent, found in zip(counts, plus_prefers_long(counts), strict=True):
        minus, plus = (np.repeat(np.arange(8), row) for row in agent)
        assert found == pytest.approx(np.sign(plus[:, None] - minus[None, :]).mean())


def test_weighted_quantiles_are_those_of_repeated_histories(paper):
    rng = np.random.default_rng(3)
    values, weight = rng.integers(0, 50, 30).astype(float), rng.integers(1, 5, 30)
    found = _Histories({"surge_length": values}, weight.astype(float), weight[None].astype(float))
    for level in (0.1, 0.5, 0.9):
        wanted = np.quantile(np.repeat(values, weight), level, method="inverted_cdf")
        assert found.quantile("surge_length", level).value == wanted


def test_branches_of_one_search_are_resampled_together(paper):
    results = deepcopy(paper)
    for name in ("denser", "dense", "sparse", "sparser"):
        results["fig8"].arrays[f"trial_{name}"] = np.repeat(np.arange(3.0), 20)
    widths = [
        [part["high"] - part["low"] for part in verdict(one, "C17").details["parts"].values()]
        for one in (paper, results)
    ]
    assert widths[0] != widths[1]


def test_a_median_of_five_has_their_range_for_an_interval():
    values = np.array([0.1, 0.5, 0.2, 0.9, 0.3])
    number = median(values, np.random.default_rng(0))
    assert number.value == 0.3
    assert interval(number) == (0.1, 0.9)


def test_strata_are_shared():
    rng = np.random.default_rng(0)
    bad_day = np.zeros((6, 8))
    bad_day[:, 0] = -5
    strata = Strata.of(8, rng)
    difference = median(bad_day + 0.1, rng, strata) - median(bad_day, rng, strata)
    np.testing.assert_allclose(interval(difference), (0.1, 0.1))


def test_no_trend_is_rarely_taken_for_one():
    rng = np.random.default_rng(7)
    above = [interval(trend(rng.normal(size=(4, 6)), rng))[0] > 0 for _ in range(300)]
    assert np.mean(above) < 0.05


def _decided(*parts):
    claim = Claim("C1", "", "", "", (), "", lambda *_: Evidence([]))
    return decide(claim, Evidence(parts))


def test_all_parts_are_needed_and_the_weakest_is_shown():
    def number(value, spread):
        return Draws(value, value + spread * np.linspace(-1, 1, 4001), 50, 49)

    good, better = Part("good", number(0.2, 0.1), above=0), Part("better", number(0.6, 0.1), above=0)
    open_part, bad = Part("open", number(0.0, 0.1), above=0), Part("bad", number(-0.2, 0.1), above=0)
    few = Part("few", Draws(0.5, np.full(10, 0.5), 4, 3), above=0)
    assert (_decided(better, good).verdict, _decided(better, good).part) == ("holds", "good")
    assert (_decided(good, open_part).verdict, _decided(good, open_part).part) == ("not decidable", "open")
    assert (_decided(open_part, bad, few).verdict, _decided(open_part, bad, few).part) == ("does not hold", "bad")
    assert _decided(good, few).verdict == "not decidable"


def test_many_parts_make_it_harder_to_refute():
    rng = np.random.default_rng(0)
    draws = Draws(-0.21, rng.normal(-0.21, 0.1, 4000), 1000, 999)
    assert Part("one", draws, above=0).outcome(1) == "does not hold"
    assert Part("one of twenty", draws, above=0).outcome(20) == "not decidable"


def test_five_agents_cannot_refute_one_of_four_parts():
    def part(n):
        return Part("all wrong", median(-np.arange(1.0, n + 1), np.random.default_rng(0)), above=0)

    assert part(5).outcome(4) == "not decidable"
    assert part(8).outcome(4) == "does not hold"
    assert "too few" in _decided(*[part(5)] * 4).why


def test_claims_json_has_every_number_and_no_nan(paper):
    results = {name: result for name, result in paper.items() if name != "s3"}
    text = claims_json(judge(results, PAPER), PAPER, PLUME)
    told = json.loads(text, parse_constant=lambda constant: pytest.fail(constant))
    assert told["profile"]["name"] == "paper"
    assert told["plume"]["fingerprint"] == "f00d"
    assert told["whiffclock"]
    assert [claim["id"] for claim in told["claims"]] == list(BY_ID)
    for claim in told["claims"]:
        assert {"statement", "statistic", "value", "interval", "verdict", "details", "why"} <= set(claim)
        assert claim["verdict"] in ("holds", "does not hold", "not decidable")
        assert len(claim["interval"]) == 2
    assert told["claims"][15]["value"] is None
    assert text == claims_json(judge(deepcopy(results), PAPER), PAPER, PLUME)


def test_the_terminal_table_fits(paper):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(claims_table(judge(paper, PROFILES["quick"])))
    text = console.export_text()
    assert all(name in text for name in BY_ID)
    assert "✓ holds" in text
    assert "? not decidable" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("value", "interval", "text"),
    [
        (0.52, (0.39, 0.632), ".52 [.39 .63]"),
        (0.01951, (0.0158, 0.0238), ".020 [.016 .024]"),
        (0.0, (-5.4e-5, 0.0), ".0000 [-.0001 .0000]"),
        (0.0, (0.0, 0.0), ".00 [.00 .00]"),
        (0.16, (np.nan, np.nan), ".16"),
    ],
)
def test_small_numbers_keep_their_digits_in_the_terminal(paper, value, interval, text):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(claims_table([replace(verdict(paper, "C9"), value=value, interval=interval)]))
    assert f" {text} " in console.export_text()


def test_the_documentation_states_every_claim_as_it_is_judged():
    text = (Path(__file__).parents[1] / "docs" / "claims.md").read_text()
    for claim in CLAIMS:
        assert f"| {claim.id} | {claim.statement} | {claim.statistic} | {', '.join(claim.figures)} |" in text
