"""Fig. S6, success by start cell: from where single-Q agents find the source."""

import xarray as xr
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.paper.dataset import SINGLE, Datasets, at_home
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.maps import draw_map, plume_note
from whiffclock.params import require

TITLE = "From where searches arrive"
NEEDS = at_home(SINGLE)

#: The colours span at least this.
_LEAST = 0.05


def draw(data: Datasets) -> Figure:
    shares, colours = _shares(data), style.colours(data.environments)
    across = min(2, len(colours))
    down = -(-len(colours) // across)
    figure = style.new_figure(style.TWO_COLUMNS, 0.6 + 1.15 * down * (3 - across))
    grid = figure.subplots(down, across, squeeze=False, subplot_kw={"facecolor": style.PALE})
    for axes in grid.flat[len(colours) :]:
        axes.set_axis_off()
    low = min(float(shares.min()), 1 - _LEAST)
    for axes, (name, colour) in zip(grid.flat, colours.items(), strict=False):
        here = shares.sel(environment=name)
        image = draw_map(axes, data, here, cmap="viridis", vmin=low, vmax=1)
        last = axes in grid[-1] or axes is grid.flat[len(colours) - 1]
        letter = "abcdefgh"[list(colours).index(name)]
        style.title(axes, letter, f"{name}: {float(here.mean()):.1%} arrive", style.dark(colour))
        plume_note(axes, data)
        axes.tick_params(labelbottom=last, labelleft=axes in grid[:, 0])
        axes.set(xlabel="x downwind of the source (cells)" if last else "", ylabel="y (cells)" * (axes in grid[:, 0]))
    label = "share of searches that arrive"
    figure.colorbar(image, ax=list(grid.flat), location="right", fraction=0.03, pad=0.01, aspect=30, label=label)
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("s6", data)(cells=int(_shares(data).notnull().any("environment").sum()))


def table(data: Datasets) -> captions.Table:
    shares = 100 * _shares(data)
    side = shares["y"] - data.facts["source"][1]
    columns = {"all": shares, "y > 0": shares.where(side > 0), "y < 0": shares.where(side < 0)}
    found = {name: (cells.mean(["x", "y"]), ".1f") for name, cells in columns.items()}
    return captions.table(found | {"worst cell": (shares.min(["x", "y"]), ".1f")})


def alt(data: Datasets) -> str:
    shares = _shares(data)
    return captions.caption("s6_alt", data)(
        all=captions.ends(shares.mean(["x", "y"])), worst=captions.ends(shares.min(["x", "y"]))
    )


def _shares(data: Datasets) -> xr.DataArray:
    """float[environment, x, y]."""
    there = "arrived_from" in data.searches
    require(there, "The run has no shares of arrivals by start cell; reproduce or export it again with this version.")
    return data.searches["arrived_from"].rename(trained="environment").transpose("environment", "x", "y")
