"""Fig. S5, other initial conditions in training: geometry of single-Q agents."""

import xarray as xr
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.drawing.boxes import metric_panels
from whiffclock.paper.dataset import CONDITIONS, MODE, SINGLE, Datasets, recovery, trained
from whiffclock.paper.figures import captions

TITLE = "Geometry of recovery after training from other starts"
NEEDS = trained(*CONDITIONS.values())

_REGIONS = ("start region from own threshold", "common start region")


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 7.0)
    grid = figure.subplots(len(style.GEOMETRY_LABELS), len(CONDITIONS))
    metric_panels(grid, [{"filled": recovery(data, name, MODE)["geometry_of"]} for name in CONDITIONS.values()])
    for axes, (condition, ensemble) in zip(grid[0], CONDITIONS.items(), strict=True):
        weight = "bold" if ensemble == SINGLE else "normal"
        agents = recovery(data, ensemble, MODE).sizes["agent"]
        text = condition.replace(", ", ",\n") + f"\nn = {agents}"
        axes.set_title(text, loc="left", fontsize=7, fontweight=weight)
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("s5", data)()


def table(data: Datasets) -> captions.Table:
    regions = {name: recovery(data, CONDITIONS[f"any time, {name}"], MODE)["start_cells"] for name in _REGIONS}
    return captions.table(
        {f"cells, {name}": (cells, ",.0f") for name, cells in regions.items()}
        | {f"upwind search, {condition}": (search, ".0f") for condition, search in _searches(data).items()}
    )


def alt(data: Datasets) -> str:
    first, last = captions.ends_of(data.environments)
    medians = [captions.medians(one) for one in _searches(data).values()]
    growing = sum(bool(one.sel(environment=last) > one.sel(environment=first)) for one in medians)
    return captions.caption("s5_alt", data)(first=first, last=last, growing=growing)


def _searches(data: Datasets) -> dict[str, xr.DataArray]:
    """Upwind search by condition."""
    found = {condition: recovery(data, ensemble, MODE)["geometry_of"] for condition, ensemble in CONDITIONS.items()}
    return {condition: one.sel(geometry="upwind_search") for condition, one in found.items()}
