"""Beyond the paper: searched programs, their datasets, figures and verdicts, apart from the paper's own."""

import json
import re
from dataclasses import replace

import made_up
import numpy as np
import pytest
import xarray as xr
from handmade import as_in_the_paper
from test_environments import EIGHT
from test_figures import pixels, reversed_everywhere
from test_report import Page
from test_reproduce import TINY, documented
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.paper.beyond.memories import MEMORIES
from whiffclock.paper.beyond.study import KINDS, SEEN, Beyond
from whiffclock.paper.beyond.verdicts import TESTED, as_learned, closed, compare, headline, programs
from whiffclock.paper.claims import CLAIMS, judge
from whiffclock.paper.dataset import (
    BAYES,
    BY_LEARNING,
    BY_SEARCH,
    CAST,
    ROBUST,
    SEARCHED,
    SEARCHED_TWO,
    SINGLE,
    TWO,
    Datasets,
    in_order,
    where_trained,
)
from whiffclock.paper.ensembles import Study
from whiffclock.paper.figures import BEYOND, drawing, picture, render
from whiffclock.paper.page.report import write_report
from whiffclock.paper.profiles import PROFILES, Profile
from whiffclock.paper.reproduce import needs_of, outlook, parts_of, reproduce
from whiffclock.params import EvaluationSettings, InputError
from whiffclock.runs.jobs import JobFolder, run, threads
from whiffclock.runs.programs import Searched

SMALL = replace(TINY, programs=1, candidates=8, program_snapshots=1, memories=("clock 5", "2 modes", "controller 2"))
FEW = {"low": 1e-6, "high": 5e-6}


@pytest.fixture(scope="module")
def small_plume(plume):
    """The small plume in two environments."""
    return replace(plume, environments=type(plume.environments)(FEW))


@pytest.fixture(scope="module")
def study(small_plume):
    return Beyond(small_plume, SMALL)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return JobFolder(tmp_path_factory.mktemp("beyond"))


@pytest.fixture(scope="module")
def whole(small_plume, store):
    """Only what is beyond the paper, with its progress."""
    told = []
    foretold = outlook(Study(small_plume, SMALL), store, list(BEYOND))
    done = reproduce(Study(small_plume, SMALL), store, list(BEYOND), progress=told.append)
    return done.datasets, foretold, sum(told)


@pytest.fixture(scope="module")
def cases():
    return {True: made_up.beyond(), False: made_up.beyond(failures=False, returns=False, walks=False)}


def test_the_work_that_was_foretold_is_done(whole, small_plume, store):
    _, (total, done), told = whole
    assert done == 0
    assert told == total > 0
    assert outlook(Study(small_plume, SMALL), store, list(BEYOND)) == (total, total)


def test_programs_are_searched_in_one_half_and_tested_in_the_other(whole, study, store):
    beyond, plume = whole[0].beyond, study.plume
    (job,) = study.searched("high")
    assert isinstance(job, Searched)
    assert (job.memory, job.settings.train_share, job.settings.chains) == (clock(SMALL.horizon), SEEN, 1)
    how = EvaluationSettings(snapshots=SMALL.snapshots, horizon=SMALL.horizon, after=SEEN)
    tested = evaluate(run(job, plume, store), plume, FEW["low"], settings=how)
    found = beyond.searches["mean"].sel(kind=SEARCHED, trained="high", tested="low", agent=0, metric="G")
    assert float(found) == pytest.approx(tested.mean("G"), abs=1e-12)
    assert beyond.searches["mean"].sel(kind=SEARCHED, agent=1).isnull().all()  # there is one program, and two agents
    learned = evaluate(run(study.single("low")[1], plume, store), plume, FEW["low"], settings=how)
    found = beyond.searches["mean"].sel(kind=SINGLE, trained="low", tested="low", agent=1, metric="G")
    assert float(found) == pytest.approx(learned.mean("G"), abs=1e-12)


def test_a_robust_program_is_the_same_everywhere(whole, study):
    assert [job.key for job in study.robust("low")] == [job.key for job in study.robust("high")]
    paths = whole[0].beyond.recoveries["path"].sel(ensemble=ROBUST)
    assert np.array_equal(paths.sel(trained="low"), paths.sel(trained="high"))
    rewards = where_trained(whole[0].beyond.searches["mean"], ROBUST).sel(agent=0)
    assert rewards.notnull().all()


def test_the_curve_has_a_point_for_every_memory(whole, study, store):
    memories = whole[0].beyond.memories
    assert memories["memory"].values.tolist() == list(SMALL.memories)
    assert memories["states"].values.tolist() == [5, 1000, 2]
    assert memories["mean"].sel(how=BY_SEARCH).notnull().all()
    missing = memories["mean"].sel(how=BY_LEARNING).isnull().all(("trained", "replica", "metric"))
    assert missing.values.tolist() == [False, False, True]  # the transitions of a controller cannot be learned
    (job,) = study.with_memory("low", BY_SEARCH, "clock 5")
    how = replace(study.evaluation, horizon=SMALL.horizon)
    tested = evaluate(run(job, study.plume, store), study.plume, FEW["low"], settings=how)
    found = memories["mean"].sel(how=BY_SEARCH, memory="clock 5", trained="low", metric="f+").item()
    assert found == pytest.approx(tested.mean("f+"), abs=1e-12)


def test_datasets_are_documented_and_survive_their_files(whole, tmp_path):
    beyond = whole[0].beyond
    assert beyond.parts.keys() == {"searches", "recoveries", "memories"}
    for name, values in beyond.parts.items():
        assert {one: array.dims for one, array in values.data_vars.items()}.items() <= documented(name).items()
    files = whole[0].save(tmp_path)
    assert {str(file.relative_to(tmp_path)) for file in files} >= {"searches.nc", "beyond/memories.nc"}
    back = Datasets.load(tmp_path)
    for name, values in beyond.parts.items():
        xr.testing.assert_equal(back.beyond[name], values)
    replace(whole[0], beyond=None).save(tmp_path)  # a later run without it
    assert Datasets.load(tmp_path).beyond is None
    assert not list((tmp_path / "beyond").iterdir())


def test_datasets_of_different_runs_are_refused(tmp_path):
    replace(made_up.datasets(), beyond=made_up.beyond()).save(tmp_path)
    for other in (made_up.beyond(profile="other"), made_up.datasets()):
        other.save(tmp_path / "beyond")
        with pytest.raises(InputError, match="different runs"):
            Datasets.load(tmp_path)


def test_the_paper_s_figures_need_nothing_of_it(small_plume, store, whole):
    paper, other = parts_of(Study(small_plume, SMALL), ["fig3"])
    assert paper.jobs(scan=False)
    assert other.jobs(scan=False) == other.jobs(scan=True) == []
    data = reproduce(Study(small_plume, SMALL), store, ["fig3"]).datasets
    assert data.beyond is None
    beyond_alone = whole[0]
    assert beyond_alone.facts["figures"] == []
    assert beyond_alone.searches["mean"].isnull().all()


def test_an_interruption_leaves_no_trace(whole, small_plume, store, tmp_path):
    again, left = JobFolder(tmp_path), 2000

    def progress(amount):
        nonlocal left
        left -= amount
        if left < 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(Study(small_plume, SMALL), again, ["b3"], threads(2), progress)
    left = 10**9
    done = reproduce(Study(small_plume, SMALL), again, ["b3"], threads(2), progress).datasets
    xr.testing.assert_equal(done.beyond.recoveries, whole[0].beyond.recoveries)
    assert done.beyond.memories is None


def test_every_figure_needs_what_there_is():
    for figure in BEYOND:
        assert {need.kind for need in needs_of([figure], KINDS)} <= {*KINDS}
    drawn = {need.kind for need in needs_of(["b2"], KINDS)}
    assert {f"{BY_SEARCH}, {name}" for name in MEMORIES} <= drawn
    assert f"{BY_LEARNING}, clock 5" in drawn
    assert f"{BY_LEARNING}, controller 8" not in drawn


def test_profiles_name_memories_that_there_are():
    assert {*PROFILES["paper"].memories} == {*MEMORIES}
    assert Profile.from_dict(SMALL.to_dict()) == SMALL
    with pytest.raises(InputError, match="no memory 'clock 7'"):
        replace(SMALL, memories=("clock 7",))
    with pytest.raises(InputError, match="programs is 3"):
        replace(SMALL, programs=3)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("figure", BEYOND)
def test_figures_stay_within_their_borders_and_texts_are_filled_in(cases, figure, there):
    drawn, made = picture(figure, cases[there]), drawing(figure)
    left, bottom, right, top = drawn.get_tightbbox().extents
    width, height = drawn.get_size_inches()
    assert min(left, bottom) > -0.01
    assert right < width + 0.01
    assert top < height + 0.01
    for text in (made.caption(cases[there]), made.alt(cases[there])):
        assert text.endswith(".")
        assert not re.search(r"[{}\[\]]|\bnan\b|\binf\b|None", text)
    table = made.table(cases[there])
    assert {len(cells) for _, cells in table.rows} == {len(table.header)}
    assert [name for name, _ in table.rows] == list(cases[there].environments)


def test_figures_select_by_name(cases):
    data, other = cases[True], in_order(reversed_everywhere(cases[True]))
    for figure in BEYOND:
        assert pixels(picture(figure, data)) == pixels(picture(figure, other)), figure
        for words in ("caption", "alt", "table"):
            assert getattr(drawing(figure), words)(data) == getattr(drawing(figure), words)(other), figure


@pytest.mark.parametrize("count", [1, 8])
def test_figures_and_verdicts_in_any_number_of_environments(cases, count):
    data = made_up.in_environments(cases[True], dict(list(EIGHT.items())[:count]))
    for figure in BEYOND:
        assert picture(figure, data).axes
        assert "{" not in drawing(figure).caption(data) + drawing(figure).alt(data)
    found = compare(data, judge(data, CLAIMS.values()))
    assert {one.searched.verdict for one in found if one.searched.claim.id in ("C9", "C10")} == {"not tested"}
    assert len(programs(data)) == count + 1


def test_a_figure_beyond_needs_its_data(tmp_path):
    with pytest.raises(InputError, match="no data for the figure b1"):
        render(made_up.datasets(), tmp_path, ["b1"])


def relabelled():
    """A run like the paper's in which searched programs do what Q-learned agents should, and the other way round."""
    data = as_in_the_paper()
    names = {SINGLE: SEARCHED, TWO: SEARCHED_TWO}
    swapped = names | {new: old for old, new in names.items()}

    def renamed(dataset, dim):
        return dataset.assign_coords({dim: [swapped.get(name, name) for name in dataset[dim].values.tolist()]})

    other = Datasets(renamed(data.searches, "kind"), renamed(data.recoveries, "ensemble"))
    other.searches.attrs["facts"] = json.dumps(data.facts | {"figures": list(BEYOND)})
    return data, other


def test_searched_programs_are_judged_by_the_same_code():
    data, beyond = relabelled()
    learned = judge(data)
    found = compare(beyond, learned)
    assert [one.searched.claim.id for one in found] == list(TESTED)
    expected = {one.claim.id: one for one in learned}
    for one in found:
        of_paper = expected[one.searched.claim.id]
        assert (one.searched.verdict, one.searched.value) == (of_paper.verdict, of_paper.value)
        assert one.owner == ("the plume" if of_paper.verdict == "holds" else "")
    other = as_learned(beyond)
    other.recoveries["geometry_of"].loc[{"geometry": "surge_length"}] = 7
    beyond.recoveries["geometry_of"].loc[{"geometry": "surge_length"}] = 7
    surge = compare(beyond, learned)[0]
    assert (surge.learned.verdict, surge.searched.verdict, surge.owner) == ("holds", "does not hold", "Q-learning")


def test_a_claim_that_cannot_be_tested_says_why():
    data, beyond = relabelled()
    beyond.searches["lost"][:] = 0  # no search fails
    found = {one.searched.claim.id: one for one in compare(beyond, judge(data))}
    assert found["C8"].searched.verdict == "undecided"
    assert "failures" in found["C8"].searched.why
    assert found["C8"].owner == ""
    beyond.searches.attrs["facts"] = json.dumps(beyond.facts | {"figures": ["b3"]})
    without = {one.searched.claim.id: one.searched for one in compare(beyond, judge(data))}
    assert (without["C9"].verdict, without["C9"].why) == ("not tested", "The run has no data of b4.")


def test_the_headline_says_what_is_closed(cases):
    data = made_up.beyond()
    data.searches["sampled"].loc[{"kind": SINGLE}] = 0.5
    data.searches["sampled"].loc[{"kind": SEARCHED}] = 0.7
    data.searches["strata"].loc[{"kind": BAYES, "agent": 0}] = 0.75
    data.searches["strata"].loc[{"kind": BAYES, "trained": "dense", "tested": "dense", "agent": 0}] = 0.4
    shares = closed(data)
    assert shares["sparse"] == pytest.approx(0.8)
    assert np.isnan(shares["dense"])
    assert "closes 80% in denser, 80% in sparse, 80% in sparser, on snapshots" in headline(data)
    assert headline(made_up.beyond(figures=["b3"])) == ""


def test_programs_are_the_moves_of_the_best_paths():
    data = made_up.beyond()
    steps = np.array([(-1, 0)] * 3 + [(0, 1)] * 2 + [(1, 0)] * 35)
    path = np.concatenate([[(0, 0)], steps.cumsum(axis=0)])
    here = {"ensemble": SEARCHED, "trained": "sparse", "agent": 3, "mode": "Q"}
    data.recoveries["path"].loc[here] = path
    data.recoveries["steps"].loc[here | {"truncation": "longest blank"}] = 9
    data.searches["mean"].loc[{"kind": SEARCHED, "trained": "sparse", "tested": "sparse", "agent": 3}] = 1
    found = programs(data)
    assert found["sparse"] == [("upwind", 3), ("+y", 2), ("downwind", 4)]
    assert list(found) == [*data.environments, "robust"]


def test_the_page_has_a_section_of_its_own(plain_figures, tmp_path):
    data = replace(made_up.datasets(), beyond=made_up.beyond())
    text = write_report(data, tmp_path).read_text()
    assert (
        text.index('<section id="figures">') < text.index('<section id="beyond">') < text.index('<section id="terms">')
    )
    page = Page(text)
    assert page.open == []
    assert len(page.values("id")) == len({*page.values("id")})
    section = text.split('<section id="beyond">')[1].split("</section>")[0]
    assert all(f'<figure id="{figure}">' in section for figure in BEYOND)
    assert not re.search(r'<figure id="(fig|s)\d', section)
    assert all(f"{name} {CLAIMS[name].title}" in section for name in TESTED)
    assert headline(data.beyond) in section
    assert re.search(r"know the whole record, which favours\s+them", section)  # said once, not in every caption
    assert "--only" not in text
    content = json.loads((tmp_path / "beyond.json").read_text())
    assert [claim["id"] for claim in content["claims"]] == list(TESTED)
    assert {*content["programs"]} == {*data.environments, "robust"}
    text = write_report(made_up.datasets(), tmp_path).read_text()
    assert 'id="beyond"' not in text
    assert "#beyond" not in text
    assert "--only fig1," in text
    assert not (tmp_path / "beyond.json").exists()


def _of_profile(data, name):
    """The same datasets as if the run had another profile: commands are printed for profiles that exist."""
    facts = json.dumps(data.facts | {"profile": name})
    return replace(data, searches=data.searches.assign_attrs(facts=facts))


def test_a_report_is_made_from_what_is_beyond_alone(whole, tmp_path):
    named = replace(_of_profile(whole[0], "quick"), beyond=_of_profile(whole[0].beyond, "quick"))
    named.save(tmp_path / "data")
    done = CliRunner().invoke(app, ["report", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    text = (tmp_path / "report.html").read_text()
    assert text.count("<figure ") == len(BEYOND)
    assert "--only b1,b2,b3,b4" in text
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{figure}.{form}" for figure in BEYOND for form in ("png", "pdf")
    }
    words = {claim["searched"]["verdict"] for claim in json.loads((tmp_path / "beyond.json").read_text())["claims"]}
    assert words <= {"undecided", "not tested"}  # one program is too few


def test_only_what_is_needed_is_there(small_plume, store, whole, tmp_path):
    data = reproduce(Study(small_plume, SMALL), store, ["b2"]).datasets
    assert data.beyond.searches["mean"].sel(kind=SEARCHED_TWO).isnull().all()
    assert where_trained(data.beyond.searches["mean"], CAST).sel(agent=0).notnull().all()
    write_report(data, tmp_path)
    content = json.loads((tmp_path / "beyond.json").read_text())
    assert "robust" not in content["programs"]
