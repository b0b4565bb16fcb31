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

_DASHES = (0, (3, 1.5))


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 4.2)
    panels = figure.subplots(2, 2).ravel()
    panels[0].axhline(0.5, color=style.GREY, lw=0.6, ls=(0, (2, 2)))
    agents = data.searches.sizes["replica"]
    _against_tau(panels[0], data, data.searches["scan_share"])
    panels[0].set(ylim=(0, 1), ylabel=f"share of decisions in {style.PLUS}")
    for axes, (metric, label) in zip(panels[1:], style.PERFORMANCE.items(), strict=True):
        _against_tau(axes, data, data.searches["scan_mean"].sel(metric=metric))
        axes.set_ylabel(label)
    if there := "heuristic_mean" in data.searches:
        _composed(panels[0], data, data.searches["heuristic_share"])
        for axes, metric in zip(panels[1:], style.PERFORMANCE, strict=True):
            _composed(axes, data, data.searches["heuristic_mean"].sel(metric=metric))
    for letter, axes in zip("abcd", panels, strict=True):
        style.title(axes, letter, f"n = {agents} agent{'s' * (agents > 1)} per point" if letter == "a" else "")
        axes.set_xlabel("τ (moves)")
    looks = zip(style.colours(data.environments).items(), style.MARKERS, strict=False)
    handles = [
        Line2D([], [], ls="", color=style.dark(colour), marker=marker, ms=3.5, label=name)
        for (name, colour), marker in looks
    ]
    handles.append(Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec=style.GREY, label="chosen τ"))
    if there:
        handles.append(Line2D([], [], color=style.GREY, ls=_DASHES, lw=0.9, label="2Q$^h$, not trained"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def caption(data: Datasets) -> str:
    shorter = data.facts["scan_episodes"] < data.facts["episodes"]
    return captions.caption("s3", data)(
        lines=" Points: agents; lines join medians; bands: quartiles." if data.searches.sizes["replica"] > 1 else "",
        shorter=" (fewer than elsewhere)" if shorter else "",
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
    """Medians as marks, with lines, quartiles and all agents if there are several; rings at the chosen tau."""
    tau = values["tau_scanned"].values
    for (name, colour), marker in zip(style.colours(data.environments).items(), style.MARKERS, strict=False):
        here = values.sel(trained=name).transpose("tau_scanned", "replica")
        middle = here.median("replica")
        if here.sizes["replica"] > 1:
            axes.plot(tau, middle, color=colour, lw=1.0)
            axes.fill_between(tau, *here.quantile([0.25, 0.75], "replica"), color=colour, alpha=0.2, lw=0)
            axes.plot(tau, here, marker, ls="", ms=1.8, color=colour, mew=0, alpha=0.6)
        axes.plot(tau, middle, marker, ls="", ms=3.2, color=style.dark(colour), mec="white", mew=0.3)
        chosen = middle.sel(tau_scanned=int(data.searches["tau"].sel(trained=name)), method="nearest")
        axes.plot(chosen["tau_scanned"], chosen, "o", ms=6, mfc="none", mec=style.dark(colour), mew=0.9)
    axes.set_xscale("log")
    axes.set_xticks(tau, [f"{value:g}" for value in tau])
    axes.xaxis.set_minor_locator(NullLocator())


def _composed(axes: Axes, data: Datasets, values: xr.DataArray) -> None:
    """Means over 2Q^h agents that were composed with each tau."""
    for name, colour in style.colours(data.environments).items():
        here = values.sel(tested=name).sortby("tau_scanned")
        axes.plot(here["tau_scanned"], here, color=style.dark(colour), ls=_DASHES, lw=0.9)
