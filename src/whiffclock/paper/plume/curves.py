"""Curves of plume statistics, panel by panel, with the DNS figures as points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from whiffclock.params import ENVIRONMENTS
from whiffclock.plume import dns
from whiffclock.plume.correlation import FOLLOWING_LAGS, LAGS
from whiffclock.plume.statistics import BOX_CENTRES, PlumeStatistics

_GREY = "#666666"
#: Widths are drawn where the whiff probability reaches this.
_LEAST_PROBABILITY = 0.01


class Curve(NamedTuple):
    """Statistics with the name and the colour they are drawn under."""

    label: str
    colour: str
    statistics: PlumeStatistics


def style(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Small type, no box."""
    axes.set_title(title, fontsize=8, loc="left", pad=3)
    axes.set_xlabel(xlabel, fontsize=7.5)
    axes.set_ylabel(ylabel, fontsize=7.5)
    axes.tick_params(labelsize=6.5, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def power(value: float) -> str:
    """A threshold in few letters: 3e-6, 0.5."""
    return f"{value:g}".replace("e-0", "e-")


def draw_axis(axes: Axes, curves: Sequence[Curve], dns_colour: str | None = None) -> None:
    """Whiff probability along the axis."""
    for curve in curves:
        x, row = _downwind(curve.statistics), curve.statistics.source[1]
        axes.plot(x, curve.statistics.probability[:, row], color=curve.colour, lw=1.2)
    for curve in _at_dns_threshold(curves):
        known = dns.AXIS | dns.AXIS_NEAR_SOURCE
        axes.plot(list(known), list(known.values()), "o", ms=3, color=dns_colour or curve.colour)
    if dns_colour is None:
        _draw_boxes(axes, curves)
    axes.set_ylim(-0.02, 1.02)
    style(axes, "Whiff probability on the axis", "x downwind (cells)", "P(whiff)")


def draw_widths(axes: Axes, curves: Sequence[Curve], dns_colour: str | None = None) -> None:
    """Full width at half maximum along the wind, and the key to the colours."""
    for curve in curves:
        x = _downwind(curve.statistics)
        seen = curve.statistics.probability.max(axis=1) >= _LEAST_PROBABILITY
        widths = [curve.statistics.width(int(d)) if shown else np.nan for d, shown in zip(x, seen, strict=True)]
        axes.plot(x, widths, color=curve.colour, lw=1.2, label=curve.label)
    for curve in _at_dns_threshold(curves):
        axes.plot(list(dns.WIDTH), list(dns.WIDTH.values()), "o", ms=3, color=dns_colour or curve.colour)
    axes.set_ylim(bottom=0)
    style(axes, "Width across the wind", "x downwind (cells)", "full width at half maximum (cells)")
    handles: list[Artist] = list(axes.get_legend_handles_labels()[0])
    if _at_dns_threshold(curves):
        handles.append(Line2D([], [], ls="", marker="o", ms=3, color=dns_colour or _GREY, label="DNS"))
    axes.legend(handles=handles, fontsize=6.5, frameon=False, ncols=2, loc="best", handlelength=1.6)


def draw_durations(axes: Axes, curves: Sequence[Curve]) -> None:
    """Distributions of whiff and blank durations in the core."""
    for curve in curves:
        for durations, line in ((curve.statistics.whiffs, "-"), (curve.statistics.blanks, "--")):
            if durations.count:
                middle = np.sqrt(durations.edges[:-1] * (durations.edges[1:] - 1))
                seen = durations.density > 0
                axes.plot(middle[seen], durations.density[seen], line, color=curve.colour, lw=1.1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    style(axes, "Durations near the axis, x = 20 to 80", "duration (snapshots)", "probability per snapshot")
    _line_legend(axes, "whiffs", "blanks")


def draw_correlation(axes: Axes, curves: Sequence[Curve], dns_colour: str | None = None) -> None:
    """Autocorrelation at a fixed cell, and correlation following the flow."""
    for curve in curves:
        axes.plot(LAGS, curve.statistics.autocorrelation["20-80"], "-", color=curve.colour, lw=1.2)
        axes.plot(FOLLOWING_LAGS, curve.statistics.following.correlation, "--", color=curve.colour, lw=1.2)
    for curve in _at_dns_threshold(curves):
        colour = dns_colour or curve.colour
        axes.plot(LAGS, dns.AUTOCORRELATION, "o", ms=3, color=colour)
        axes.plot(list(dns.FOLLOWING), list(dns.FOLLOWING.values()), "s", ms=3.2, mfc="white", color=colour)
    axes.axhline(0, color=_GREY, lw=0.5)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([1, 2, 4, 8, 16]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    style(axes, "Autocorrelation of whiffs, x = 20 to 80", "lag (snapshots)", "correlation")
    _line_legend(axes, "at a fixed cell", "following the flow")


def _draw_boxes(axes: Axes, curves: Sequence[Curve]) -> None:
    for curve in curves:
        if curve.label in dns.BOXES and curve.label in ENVIRONMENTS:
            axes.plot(BOX_CENTRES, dns.BOXES[curve.label], "s", ms=3.2, mfc="white", color=curve.colour)


def _at_dns_threshold(curves: Sequence[Curve]) -> list[Curve]:
    """The first curve at the threshold of the DNS figures, if there is one."""
    return [curve for curve in curves if curve.statistics.threshold == dns.THRESHOLD][:1]


def _downwind(statistics: PlumeStatistics) -> np.ndarray:
    return np.arange(statistics.shape[1]) - statistics.source[0]


def _line_legend(axes: Axes, solid: str, dashed: str) -> None:
    handles = [Line2D([], [], color=_GREY, lw=1.1, ls=ls, label=text) for text, ls in ((solid, "-"), (dashed, "--"))]
    axes.legend(handles=handles, fontsize=6.5, frameon=False, loc="best", handlelength=2)
