"""Pictures of sweeps: the numbers in them, their axes and their words."""

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import whiffclock as wc
from whiffclock.drawing.pictures import arranged, write_picture
from whiffclock.netcdf import write_dataset
from whiffclock.params import InputError
from whiffclock.sweep_plots import choose, draw_lines, draw_map, load_sweep, text

matplotlib.use("Agg")


def made_up(seeds=3, **settings):
    """A dataset as a sweep gives it, with values that are all different."""
    shape = [len(values) for values in settings.values()]
    data = xr.Dataset(coords=settings | {"seed": np.arange(seeds)}, attrs={"sweep": "{}"})
    for name in ("G", "T_min/T", "f+", "G_sum"):
        values = np.random.default_rng(len(name)).random([*shape, seeds])
        data[name.replace("/", "_over_")] = (*settings, "seed"), values, {"metric": name}
    return data


def drawn(axes):
    """Lines through medians by name, and the dots of all agents."""
    lines = {
        line.get_label(): line.get_xydata() for line in axes.lines if line.get_marker() == "o" and line.get_ls() == "-"
    }
    dots = [line.get_xydata() for line in axes.lines if line.get_ls() == "None"]
    return lines, dots


def test_lines_have_every_agent_and_the_medians():
    data = made_up(length=[5, 50, 10], threshold=[3e-6, 7e-6])
    figure = draw_lines(data)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "mean reward $G$",
        r"mean $T_{\min}/T$",
        "success rate $f^+$",
    ]
    for axes, name in zip(figure.axes, ("G", "T_min_over_T", "f+"), strict=True):
        lines, dots = drawn(axes)
        assert list(lines) == ["dense", "sparser"]
        for (label, line), cloud, threshold in zip(lines.items(), dots, (3e-6, 7e-6), strict=True):
            agents = data[name].sel(threshold=threshold).sortby("length")
            assert line[:, 0].tolist() == [5, 10, 50], label
            assert np.array_equal(line[:, 1], agents.median("seed"))
            assert cloud[:, 0].tolist() == np.repeat([5, 10, 50], 3).tolist()
            assert np.array_equal(cloud[:, 1], agents.transpose("length", "seed").values.ravel())
        assert axes.get_xscale() == "log"
        assert axes.get_xlabel() == "length of the clock (moves)"
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["5", "10", "50"]
        low, high = axes.get_ylim()
        assert low < data[name].min() < data[name].max() < high
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "environment"
    assert [word.get_text() for word in legend.get_texts()] == ["dense", "sparser", "agents", "median of 3"]


def test_a_map_has_the_medians():
    data = made_up(seeds=4, gamma=[0.9, 0.998, 0.99], threshold=[7e-6, 1e-6])
    (axes,) = draw_map(data, ["f+"]).axes
    expected = data["f+"].median("seed").sortby(["gamma", "threshold"]).transpose("threshold", "gamma").values
    assert np.array_equal(axes.images[0].get_array(), expected)
    words = {(int(t.get_position()[0]), int(t.get_position()[1])): t.get_text() for t in axes.texts}
    assert words == {(x, y): f"{expected[y, x]:.2f}".replace("0.", ".") for x in range(3) for y in range(2)}
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.9", "0.99", "0.998"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["denser", "sparser"]
    assert axes.get_xlabel() == r"discount $\gamma$ in training"
    figure = draw_map(made_up(gamma=list(np.linspace(0.5, 0.9, 20)), horizon=[50, 100]), ["G"])
    assert not figure.axes[0].texts  # no room for numbers
    assert len(figure.axes) == 2  # a scale of colours instead


@pytest.mark.parametrize("draw", [draw_lines, draw_map])
def test_the_order_of_dimensions_and_values_changes_nothing(draw):
    data = made_up(gamma=[0.9, 0.99, 0.95], threshold=[1e-6, 2e-6])
    turned = data.isel(gamma=[2, 0, 1], threshold=[1, 0], seed=[1, 2, 0]).transpose("seed", "threshold", "gamma")
    first, second = (draw(one, x="gamma") for one in (data, turned))
    for one, other in zip(first.axes, second.axes, strict=True):
        for line, same in zip(one.lines, other.lines, strict=True):
            assert sorted(map(tuple, line.get_xydata())) == sorted(map(tuple, same.get_xydata()))
        for image, same in zip(one.images, other.images, strict=True):
            assert np.array_equal(image.get_array(), same.get_array())


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ({"episodes": [1000, 100_000]}, "log"),
        ({"threshold": [1e-6, 2e-6, 6e-6]}, "log"),
        ({"threshold": [1e-6, 3e-6, 5e-6, 7e-6]}, "linear"),
        ({"radius": [1.0, 2.0, 3.0]}, "linear"),
        ({"q_start": [-1.0, 0.0, 100.0]}, "linear"),
        ({"gamma": [0.9, 0.999]}, "function"),
        ({"evaluation_gamma": [0.9, 0.999]}, "function"),
        ({"tau": ["none", "3"]}, "linear"),
        ({"start_on_whiff": [False, True]}, "linear"),
        ({"horizon": list(range(10, 500, 10))}, "log"),
        ({"plume": ["builtin"]}, "linear"),
    ],
)
def test_axes_suit_the_setting(values, scale):
    (axes,) = draw_lines(made_up(**values), ["G"]).axes
    assert axes.get_xscale() == scale
    ((name, given),) = values.items()
    names = isinstance(given[0], str | bool)
    medians = made_up(**values)["G"].median("seed").values
    (line,) = (line for line in axes.lines if len(line.get_xdata()) == len(given))
    assert np.array_equal(line.get_ydata(), medians)
    assert line.get_xdata().tolist() == (list(range(len(given))) if names else given)
    assert bool(line.get_linewidth()) != names, name  # there is nothing between two names


def test_values_are_written_short():
    written = [text(value) for value in (3_000_001, 500, 0.998, 7e-6, True, "own", 1e12, 0.9999)]
    assert written == ["3e6", "500", "0.998", "7e-6", "yes", "own", "1e12", "0.9999"]


def test_other_settings_can_be_given_a_value():
    data = made_up(gamma=[0.9, 0.99], threshold=[1e-6, 5e-6], length=[5, 50], start_on_whiff=[False, True])
    with pytest.raises(InputError, match="over gamma, threshold, length, start_on_whiff; a plot shows 2 of them"):
        choose(data, {})
    chosen = choose(data, {"threshold": "sparse", "start_on_whiff": "yes"})
    assert chosen["G"].equals(data["G"].sel(threshold=5e-6, start_on_whiff=True))
    assert choose(data, {"threshold": "1e-6", "length": "5"}).sizes == {"gamma": 2, "seed": 3, "start_on_whiff": 2}
    assert choose(data, {"gamma": 0.99, "length": 5})["G"].dims == ("threshold", "start_on_whiff", "seed")
    for wrong, says in (
        ({"tau": 3}, "tau is not swept"),
        ({"gamma": "1"}, "gamma has no value 1"),
        ({"gamma": "x"}, "no v"),
    ):
        with pytest.raises(InputError, match=says):
            choose(data, wrong)


def test_levels_are_the_medians_at_one_value():
    data = made_up(length=[5, 500, 50], threshold=[7e-6, 3e-6])
    figure = draw_lines(data, ["G"], title="A finding, in $1", level="500")
    (axes,) = figure.axes
    levels = {line.get_color(): line.get_ydata()[0] for line in axes.lines if line.get_ls() == ":"}
    medians = data["G"].sel(length=500).median("seed")
    ends = {line.get_label(): line for line in axes.lines if line.get_ls() == "-"}
    assert levels == {
        ends["dense"].get_color(): medians.sel(threshold=3e-6).item(),
        ends["sparser"].get_color(): medians.sel(threshold=7e-6).item(),
    }
    assert "median at 500" in [one.get_text() for one in figure.legends[0].get_texts()]
    assert figure.get_suptitle() == r"A finding, in \$1"


def test_what_cannot_be_drawn_is_said():
    for draw, data, words, says in (
        (draw_map, made_up(gamma=[0.9, 0.99]), {}, "A map needs two swept settings"),
        (draw_lines, made_up(), {}, "no swept setting"),
        (draw_lines, made_up(gamma=[0.9]), {"x": "tau"}, "tau is not swept in this result; swept settings: gamma"),
        (draw_lines, made_up(gamma=[0.9]), {"level": "0.8"}, "gamma has no value 0.8 in this sweep; there are 0.9"),
        (draw_lines, made_up(gamma=[0.9]), {"metrics": ["H"]}, "no metric called H; there are G, T_min/T, f"),
    ):
        with pytest.raises(InputError, match=says):
            draw(data, **words)


def test_results_come_from_files_of_sweeps_only(tmp_path):
    data = made_up(gamma=[0.9, 0.99], tau=["none", "3"])
    write_dataset(tmp_path / "sweep.nc", data)
    assert load_sweep(tmp_path / "sweep.nc").identical(data)
    damaged = bytearray((tmp_path / "sweep.nc").read_bytes())
    (tmp_path / "cut.nc").write_bytes(damaged[: len(damaged) // 2])
    (tmp_path / "text.nc").write_text("G = 3")
    write_dataset(tmp_path / "other.nc", xr.Dataset({"a": ("x", [1.0])}))
    write_dataset(tmp_path / "flat.nc", data.assign(G=data["G"].mean("tau").assign_attrs(metric="G")))
    write_dataset(tmp_path / "bare.nc", data.drop_vars("gamma"))
    for name in ("cut.nc", "text.nc", "other.nc", "flat.nc", "bare.nc"):
        with pytest.raises(InputError, match=f"{name} is not the result of a sweep"):
            load_sweep(tmp_path / name)
    with pytest.raises(InputError, match="There is no file at"):
        load_sweep(tmp_path / "none.nc")


def test_a_notebook_draws_into_given_axes():
    data = made_up(length=[5, 50, 500], gamma=[0.9, 0.99])
    ax = Figure().add_subplot()
    assert wc.plot_sweep(data, "T_min/T", ax=ax) is ax
    lines, _ = drawn(ax)
    assert list(lines) == ["0.9", "0.99"]
    assert np.array_equal(lines["0.99"][:, 1], data["T_min_over_T"].sel(gamma=0.99).median("seed"))
    assert list(drawn(wc.plot_sweep(data, x="gamma", ax=Figure().add_subplot()))[0]) == ["5", "50", "500"]


@pytest.mark.parametrize("draw", [draw_lines, draw_map])
def test_dollars_in_names_are_not_mathematics(draw, tmp_path):
    data = made_up(plume=[r"$\frac{$.nc", "$b$.nc"], n=[1, 2])
    data["n"].attrs["long_name"] = r"The $\nonsense$"
    data = data.rename(n="price")
    data["G"].attrs["metric"] = r"$\G$"
    write_picture(arranged(lambda: draw(data, [r"$\G$"], "plume")), tmp_path / "a.png")
    figure = draw(data, [r"$\G$"], "plume")
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == [r"\$\frac{\$", r"\$b\$"]
