"""The full run that comes with the package: small, the same verdicts, and every other run beside it."""

import json
from copy import deepcopy
from pathlib import Path

import made_up
import numpy as np
import pytest
from handmade import BROKEN, QUICK, as_in_the_paper, with_facts
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.paper import reference
from whiffclock.paper.claims import CLAIMS, claims_json, judge
from whiffclock.paper.dataset import SINGLE, TWO, Datasets
from whiffclock.paper.page.report import report_html
from whiffclock.paper.reference import (
    differences,
    judge_again,
    load_run,
    pack,
    reference_verdicts,
    verdicts_beside,
)
from whiffclock.params import InputError

SHIPPED = reference.FOLDER
shipped = pytest.mark.skipif(not (SHIPPED / "searches.nc").is_file(), reason="no full run in this copy")


@pytest.fixture
def made(tmp_path):
    """A made-up run on disk, with what goes beyond the paper."""
    data = Datasets(**made_up.datasets().parts, beyond=made_up.beyond())
    data.save(tmp_path / "run" / "data")
    return tmp_path / "run"


@pytest.fixture
def packed(made, tmp_path, monkeypatch):
    """The made-up run as the full run."""
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    pack(made, tmp_path / "reference")
    return made


@shipped
def test_judging_the_shipped_run_gives_the_stored_verdicts():
    data, stored = load_run(), reference_verdicts()
    assert list(stored) == list(CLAIMS)
    assert claims_json(list(stored.values()), data) == claims_json(judge(data), data)
    assert data.facts["episodes"] >= 3_000_000
    assert not differences(data)
    assert verdicts_beside(data) == {}


@shipped
def test_the_shipped_run_is_small():
    sizes = [path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()]
    assert sum(sizes) < 3e6
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert {
        f"data/{path.parent.relative_to(SHIPPED.parent)}/*{path.suffix}" in text for path in SHIPPED.rglob("*.*")
    } == {True}


def test_a_packed_run_is_smaller_and_gives_the_same_verdicts(packed):
    original, small = load_run(packed), load_run()
    folders = (packed / "data", reference.FOLDER)
    sizes = [sum(path.stat().st_size for path in folder.rglob("*.nc")) for folder in folders]
    assert sizes[1] < 0.8 * sizes[0]
    for one, other in zip(judge(original), judge(small), strict=True):
        assert (one.verdict, one.summary) == (other.verdict, other.summary)
    stored = list(reference_verdicts().values())
    assert claims_json(stored, small) == claims_json(judge(small), small)
    assert small.beyond is not None
    assert small.facts == original.facts


def test_what_figures_read_is_kept(packed):
    original, small = load_run(packed), load_run()
    for data, other in ((original, small), (original.beyond, small.beyond)):
        for name, dataset in data.parts.items():
            for variable, values in dataset.data_vars.items():
                found = other[name][variable]
                assert found.dims == values.dims
                assert found.dtype == values.dtype or variable in ("trial", "path")
    np.testing.assert_allclose(small.searches["mean"], original.searches["mean"], atol=1e-6)
    rewards = [data.searches["strata"].sel(metric=["G", "f+"]) for data in (original, small)]
    np.testing.assert_allclose(*rewards, atol=2e-5)
    kept = original.recoveries["steps"].where(original.recoveries["truncation"] != "none").max("truncation")
    paths = [data.recoveries["path"].sel(ensemble=[SINGLE, TWO]) for data in (original, small)]
    there = (paths[0]["step"] <= kept.sel(ensemble=[SINGLE, TWO])).transpose(*paths[0].dims[:-1])
    assert (paths[0].where(there, 0) == paths[1]).all()


def test_a_run_that_changes_when_packed_is_refused(made, tmp_path, monkeypatch):
    monkeypatch.setitem(reference._BITS, "strata", 0)
    with pytest.raises(InputError, match="Packed, the run has another result in C"):
        pack(made, tmp_path / "reference")
    assert not (tmp_path / "reference").exists()


def test_after_a_change_of_a_rule_the_packed_run_is_judged_again(packed):
    path = reference.FOLDER / "verdicts.json"
    stored = path.read_text()
    path.write_text(stored.replace('"verdict": "', '"verdict": "once '))
    assert judge_again(reference.FOLDER)[0].verdict == json.loads(stored)["claims"][0]["verdict"]
    assert path.read_text() == stored


def test_another_run_says_in_what_it_differs(packed):
    data = load_run(packed)
    assert differences(data) == []
    other = with_facts(data, seeds=12, episodes=300_000, fingerprint="beef", environments={"a": 1.0})
    assert differences(other) == ["another plume", "other environments", "12 agents instead of 5",
                                  "300,000 episodes instead of 1,000"]  # fmt: skip
    read = with_facts(data, readings={"truncation": "none", "split_zero": True})
    assert differences(read) == ["other readings (split zero, truncation)"]


def test_without_a_full_run_nothing_is_shown_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "nowhere")
    data = made_up.datasets()
    assert reference.reference() is None
    assert (reference_verdicts(), verdicts_beside(data), differences(data)) == ({}, {}, [])
    for command in (["report"], ["claims", "C1"], ["data", "fig2"]):
        done = CliRunner().invoke(app, command)
        assert str(done.exception).startswith("This installation has no full run")


def test_the_page_gets_the_verdicts_of_the_full_run(packed, tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr("whiffclock.paper.page.report.render", lambda *_, **__: {})
    monkeypatch.setattr(
        "whiffclock.paper.page.report.report_html",
        lambda *some, **named: given.update(all=some) or report_html(*some, **named),
    )
    from whiffclock.paper.page.report import write_report

    write_report(load_run(packed), tmp_path / "same")
    assert given["all"][-2:] == ({}, [])
    content = json.loads((tmp_path / "same" / "claims.json").read_text())
    assert {claim["full_run"] for claim in content["claims"]} == {None}
    write_report(with_facts(load_run(packed), seeds=4), tmp_path / "other")
    assert list(given["all"][-2]) == list(CLAIMS)
    content = json.loads((tmp_path / "other" / "claims.json").read_text())
    assert content["instead_of_full_run"] == ["4 agents instead of 5"]
    assert [claim["full_run"] for claim in content["claims"]] == [one.verdict for one in reference_verdicts().values()]


def test_the_report_of_the_full_run_needs_no_folder(tmp_path, monkeypatch):
    made_up.datasets(figures=["fig5"]).save(tmp_path / "run" / "data")
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    pack(tmp_path / "run", tmp_path / "reference")
    monkeypatch.chdir(tmp_path)
    text = run("report")
    assert "Report: full-run/report.html" in text
    assert "this run" not in text  # it is the full run
    assert {path.name for path in (tmp_path / "full-run").iterdir()} == {"report.html", "claims.json", "figures"}
    run("report", tmp_path / "run", "--out", tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "report.html").is_file()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["data"]


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words], terminal_width=80, env={"COLUMNS": "80"})
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.fixture
def short(tmp_path, monkeypatch):
    """A run of short trainings that would refute C1, beside a full run in which all claims hold."""
    monkeypatch.setattr(
        reference, "reference_verdicts", lambda *_: {one.claim.id: one for one in judge(as_in_the_paper())}
    )
    monkeypatch.setattr(reference, "_stored", lambda _: {"facts": as_in_the_paper().facts})
    data = with_facts(deepcopy(as_in_the_paper()), **QUICK)
    BROKEN["C1"][0](data)
    monkeypatch.setattr(reference, "load_run", lambda _: data)
    return data


def test_claims_shows_a_claim_in_full(short):
    text = run("claims", "anywhere", "C1", "c15")
    assert max(map(len, text.splitlines())) <= 80
    said = " ".join(text.split())
    for name in ("C1", "C15"):
        claim = CLAIMS[name]
        assert all(part in said for part in (claim.statement, claim.place, claim.statistic, ", ".join(claim.data)))
    assert "○ needs full training" in said
    assert "full run holds (holds in all 4 parts)" in said
    assert all(f" {name} " in said for name in short.environments)
    assert "This run: 5 agents instead of 20, 250,000 episodes instead of 3,000,001." in said
    assert "data = load_run('anywhere')" in text
    assert 'data["searches"]["strata"]' in text


def test_the_table_of_claims_has_the_full_run_beside(short):
    text = run("claims", "anywhere")
    assert max(map(len, text.splitlines())) <= 80
    first = next(line for line in text.splitlines() if line.split()[:1] == ["C1"])
    assert first.split("surge")[-1].split() == ["3", "of", "4", "○", "needs", "full", "training", "✓"]
    assert "250,000 episodes instead of 3,000,001" in " ".join(text.split())


def test_claims_as_json(short):
    content = json.loads(run("claims", "anywhere", "C1", "--json"))
    (found,) = content["claims"]
    assert (found["id"], found["verdict"], found["full_run"]) == ("C1", "needs full training", "holds")
    assert set(found["details"]["parts"]) == set(short.environments)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["C99"], "There is no claim C99; choose from C1, C2"),
        (["C1", "C0"], "There is no claim C0; choose from C1, C2"),
        (["nowhere", "C1"], "nowhere has no folder data"),
    ],
)
def test_a_wrong_name_gets_one_sentence(words, sentence):
    done = CliRunner().invoke(app, ["claims", *words])
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith(sentence)


@shipped
def test_claims_of_the_full_run_need_no_folder():
    text = run("claims", "C5")
    assert "data = load_run()" in text
    assert CLAIMS["C5"].statement in " ".join(text.split())


def test_every_claim_names_variables_that_there_are(packed):
    data = load_run(packed)
    for claim in CLAIMS.values():
        assert claim.data
        for name in claim.data:
            dataset, variable = name.split(".")
            assert variable in data[dataset]
