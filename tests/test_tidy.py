"""Tidy tables: every figure has one, rows are observations, and numbers are those of the datasets."""

import io

import made_up
import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.paper.dataset import SINGLE, Datasets
from whiffclock.paper.figures import known
from whiffclock.paper.tidy import COLUMNS, TABLES, datasets, table
from whiffclock.params import InputError


@pytest.fixture(scope="module")
def data():
    return Datasets(**made_up.datasets().parts, beyond=made_up.beyond())


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    data.save(place / "data")
    return place


def run(*words):
    return CliRunner().invoke(app, ["data", *map(str, words)], env={"COLUMNS": "80"})


def test_every_figure_has_a_table():
    assert {*known()} <= {*TABLES}
    assert all(name in known() or name[:-1] in known() for name in TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_values_in_every_row_and_explained_columns(data, name):
    found = table(data, name)
    assert len(found)
    assert {*found.columns} <= {*COLUMNS}
    measured = [column for column in found.columns if found[column].dtype.kind == "f"]
    assert found[measured].notna().any(axis=1).all()
    assert not found.duplicated().any()


def test_performance_is_that_of_the_dataset(data):
    found = table(data, "fig2").set_index(["kind", "environment", "agent"])
    here = {"kind": SINGLE, "trained": "dense", "tested": "dense", "agent": 3, "metric": "f+"}
    assert found.loc[(SINGLE, "dense", 3), "f+"] == data.searches["mean"].sel(here).item()
    single = found.loc["cast-and-surge"]
    assert len(single) == 4  # one agent in each environment


def test_last_whiffs_are_counted_once(data):
    found = table(data, "fig3d")
    totals = found.groupby("environment")["lost"].sum()
    for name in data.environments:
        here = {"kind": SINGLE, "trained": name, "tested": name}
        assert totals[name] == data.searches["lost"].sel(here).sum()


def test_paths_end_at_their_truncation(data):
    found = table(data, "s4").query("ensemble == 'single-Q' and environment == 'sparse' and agent == 2")
    here = {"ensemble": SINGLE, "trained": "sparse", "agent": 2, "mode": "Q"}
    steps = int(data.recoveries["steps"].sel(here | {"truncation": "largest clock reading"}))
    np.testing.assert_array_equal(found["step"], np.arange(steps + 1))
    np.testing.assert_array_equal(found[["x", "y"]], data.recoveries["path"].sel(here)[: steps + 1])


def test_a_variable_of_a_dataset_is_a_table(data):
    for name, dataset in datasets(data).items():
        for variable in dataset.data_vars:
            found = table(data, f"{name}.{variable}")
            assert {*found.columns} == {*map(str, dataset[variable].dims), "value"}
            assert {*found.columns} <= {*COLUMNS}
            assert len(found) <= dataset[variable].size


def test_memory_needed_is_that_of_the_rows(data):
    """The product of all dimensions of the searches would be 10^8 rows and more."""
    assert len(table(data, "searches.strata")) <= data.searches["strata"].size


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fig9", "There is no table fig9; choose from fig1, fig2"),
        ("searches.nothing", "searches.nothing is not a variable of a dataset; choose from searches.strata"),
        ("nothing.mean", "There is no table nothing.mean"),
        ("searches", "searches is not a variable of a dataset"),
    ],
)
def test_a_table_that_is_not_there_gets_one_sentence(data, name, sentence):
    with pytest.raises(InputError) as error:
        table(data, name)
    assert str(error.value).startswith(sentence)


def test_a_figure_that_the_run_has_not_gets_one_sentence():
    with pytest.raises(InputError, match="The run has no data of fig3"):
        table(made_up.datasets(figures=["fig2"]), "fig3d")
    with pytest.raises(InputError, match="The run has no data of b1"):
        table(made_up.datasets(), "b1")


def test_the_command_shows_columns_and_first_rows(folder):
    text = run(folder, "fig3").output
    assert max(map(len, text.splitlines())) <= 80
    assert "fig3: one row per single-Q agent; 20 rows." in text
    assert "how far upwind the path reaches" in text
    assert "strata  kind, trained, tested, agent, stratum, metric" in " ".join(
        run(folder, "searches").output.split(" ")
    )


def test_a_table_is_written_as_csv(data, folder, tmp_path):
    file = tmp_path / "fig2.csv"
    assert run(folder, "fig2", "--csv", file).exit_code == 0
    pandas.testing.assert_frame_equal(pandas.read_csv(file), table(data, "fig2"), check_dtype=False)
    printed = pandas.read_csv(io.StringIO(run(folder, "fig2", "--csv", "-").stdout))
    pandas.testing.assert_frame_equal(printed, table(data, "fig2"), check_dtype=False)
    assert [path.name for path in tmp_path.iterdir()] == ["fig2.csv"]


def test_a_file_that_cannot_be_written_is_found_before_the_work(folder, tmp_path):
    (tmp_path / "taken").mkdir()
    done = run("nowhere", "fig2", "--csv", tmp_path / "taken")
    assert "taken cannot be written" in str(done.exception)
    assert str(run(folder, "fig2", "more").exception).startswith("There are 3 names")
    assert str(run("nowhere", "fig2").exception).startswith("nowhere has no folder data")
