"""Fig. S3, the choice of tau: how evenly it divides training, and what it does to performance."""

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from whiffclock.drawing import style
from whiffclock.paper.dataset import SCAN, Datasets, at_home, trained
from whiffclock.paper.figures import captions

TITLE = "The choice of τ"
NEEDS = (*trained(SCAN), *at_home(SCAN))


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
    looks = zip(style.colours(data.environments).items(), style.MARKERS, strict=False)
    handles = [
        Line2D([], [], ls="", color=style.dark(colour), marker=marker, ms=3.5, label=name)
        for (name, colour), marker in looks
    ]
    handles.append(Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec=style.GREY, label="chosen τ"))
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def caption(data: Datasets) -> str:
    shorter = data.facts["scan_episodes"] < data.facts["episodes"]
    return captions.caption("s3", data)(
        lines="; lines join medians" if data.searches.sizes["replica"] > 1 else "",
        shorter=" These trainings are shorter than those of the other figures." if shorter else "",
    )


def table(data: Datasets) -> captions.Table:
    chosen = {"chosen τ (moves)": (data.searches["tau"], ".0f")}
    return captions.table(chosen | {"span of median G": (_spans(data), ".2f")})


def alt(data: Datasets) -> str:
    taus, shares = data.searches["tau_scanned"], data.searches["scan_share"]
    lowest, highest = int(taus.min()), int(taus.max())
    return captions.caption("s3_alt", data)(
        lowest=lowest,
        highest=highest,
        low=captions.ends(shares.sel(tau_scanned=lowest)),
        high=captions.ends(shares.sel(tau_scanned=highest)),
        tau=captions.ends(data.searches["tau"], ".0f", "moves"),
        spans=captions.ends(_spans(data)),
    )


def _spans(data: Datasets) -> xr.DataArray:
    """Median reward with the best tau minus that with the worst."""
    rewards = data.searches["scan_mean"].sel(metric="G").median("replica")
    return rewards.max("tau_scanned") - rewards.min("tau_scanned")


def _against_tau(axes: Axes, data: Datasets, values: xr.DataArray) -> None:
    """Agents as points, medians as lines if there are several agents, rings at the chosen tau."""
    tau = values["tau_scanned"].values
    for (name, colour), marker in zip(style.colours(data.environments).items(), style.MARKERS, strict=False):
        here = values.sel(trained=name).transpose("tau_scanned", "replica")
        middle = here.median("replica")
        if here.sizes["replica"] > 1:
            axes.plot(tau, middle, color=colour, lw=0.9)
        axes.plot(tau, here, marker, ls="", ms=3, color=style.dark(colour), mec="white", mew=0.3)
        chosen = middle.sel(tau_scanned=int(data.searches["tau"].sel(trained=name)), method="nearest")
        axes.plot(chosen["tau_scanned"], chosen, "o", ms=6, mfc="none", mec=style.dark(colour), mew=0.9)
    axes.set_xscale("log")
    axes.set_xticks(tau, [f"{value:g}" for value in tau])
    axes.xaxis.set_minor_locator(NullLocator())
