"""Fig. S3, the choice of tau: how evenly it divides training, and what it does to performance."""

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from whiffclock.paper.dataset import Datasets
from whiffclock.paper.figures import style, words

TITLE = "The choice of τ"
NEEDS = ("tau scan training", "tau scan")


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 4.2)
    panels = figure.subplots(2, 2).ravel()
    panels[0].axhline(0.5, color=style.GREY, lw=0.6, ls=(0, (2, 2)))
    _against_tau(panels[0], data, data.searches["scan_share"])
    panels[0].set(ylim=(0, 1), ylabel=f"share of training decisions in {style.PLUS}")
    for axes, (metric, label) in zip(panels[1:], style.PERFORMANCE.items(), strict=True):
        _against_tau(axes, data, data.searches["scan_mean"].sel(metric=metric))
        axes.set_ylabel(label)
    for letter, axes in zip("abcd", panels, strict=True):
        style.title(axes, letter)
        axes.set_xlabel("τ (moves)")
    handles = [Line2D([], [], color=colour, marker="o", ms=2.5, label=name) for name, colour in style.COLOURS.items()]
    handles.append(Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec=style.GREY, label="chosen τ"))
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def caption(data: Datasets) -> str:
    returns = data.searches["scan_mean"].sel(metric="G").median("replica")
    shorter = data.facts["scan_episodes"] < data.facts["episodes"]
    return words.caption("s3", data)(
        tau=words.each(data.searches["tau"], ".0f"),
        spans=words.each(returns.max("tau_scanned") - returns.min("tau_scanned")),
        shorter=" These trainings are shorter than those of the other figures." if shorter else "",
    )


def _against_tau(axes: Axes, data: Datasets, values: xr.DataArray) -> None:
    """Medians over agents as lines, agents as dots, rings at the chosen tau."""
    tau = values["tau_scanned"].values
    for name, colour in style.COLOURS.items():
        here = values.sel(trained=name).transpose("tau_scanned", "replica")
        middle = here.median("replica")
        axes.plot(tau, middle, color=colour)
        axes.plot(tau, here, "o", ms=2.5, color=style.dark(colour), mec="white", mew=0.3)
        chosen = middle.sel(tau_scanned=int(data.searches["tau"].sel(trained=name)), method="nearest")
        axes.plot(chosen["tau_scanned"], chosen, "o", ms=6, mfc="none", mec=style.dark(colour), mew=0.9)
    axes.set_xscale("log")
    axes.set_xticks(tau, [f"{value:g}" for value in tau])
    axes.xaxis.set_minor_locator(NullLocator())
