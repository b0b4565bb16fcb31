"""Panels that several figures share: metrics of geometry by environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from whiffclock.experiments.results import Result
from whiffclock.paper.figures.boxes import Fill, box, never
from whiffclock.paper.figures.style import COLOURS, METRICS, environment_axis


class Group(NamedTuple):
    """Geometry float[e, a, g] of one kind of agent, and how its boxes are filled."""

    values: np.ndarray
    fill: Fill = "filled"


def metric(result: Result, values: np.ndarray, name: str) -> np.ndarray:
    """One metric of geometry: ``values`` without their last axis."""
    return values[..., result.facts["geometry"].index(name)]


def pooled(result: Result, groups: Sequence[Group], name: str) -> np.ndarray:
    """All values of a metric, for the limits of panels."""
    return np.concatenate([metric(result, group.values, name).ravel() for group in groups])


def metric_boxes(axes: Axes, result: Result, name: str, groups: Sequence[Group], *, rotate: bool = True) -> None:
    """Boxes of one metric, side by side within each environment."""
    names = result.facts["environments"]
    room = 0.8 / len(groups)
    for j, group in enumerate(groups):
        values = metric(result, group.values, name)
        for e, environment in enumerate(names):
            at = e + (j - (len(groups) - 1) / 2) * room
            box(axes, at, values[e], COLOURS[environment], group.fill, 0.8 * room if len(groups) > 1 else 0.6)
    environment_axis(axes, names, rotate=rotate)
    axes.margins(x=0)


def metric_row(panels: Sequence[Axes], result: Result, groups: Sequence[Group]) -> None:
    """One panel per metric, in the order of :data:`METRICS`, each with its own scale."""
    for axes, (name, (label, unit)) in zip(panels, METRICS.items(), strict=True):
        metric_boxes(axes, result, name, groups)
        never(axes, pooled(result, groups, name))
        axes.set_ylabel(f"{label} ({unit})")


def metric_grid(grid: np.ndarray, result: Result, columns: Sequence[Sequence[Group]]) -> None:
    """Axes [metric, column]; panels of a row have one scale."""
    for i, (row, (name, (label, unit))) in enumerate(zip(grid, METRICS.items(), strict=True)):
        values = np.concatenate([pooled(result, groups, name) for groups in columns])
        for j, (axes, groups) in enumerate(zip(row, columns, strict=True)):
            metric_boxes(axes, result, name, groups)
            never(axes, values, "never" if j == 0 else "")
            axes.tick_params(labelleft=j == 0)
            if i < len(grid) - 1:
                axes.set_xticklabels([])
        row[0].set_ylabel(f"{label}\n({unit})")
