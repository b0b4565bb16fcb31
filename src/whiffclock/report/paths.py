"""Picture of recovery: void trajectories of trained agents, environment by environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from whiffclock.policy import ClockPolicy
from whiffclock.recovery import Truncation, void_path
from whiffclock.report.figures.style import COLOURS, clock_colours

_INK = "#222222"


def draw_path(axes: Axes, path: np.ndarray, colour: str, width: float = 1.4) -> None:
    """One void trajectory, upwind to the left, darker as the clock runs."""
    points = path.astype(float)[:, None, :]
    segments = np.concatenate([points[:-1], points[1:]], axis=1)
    lines = LineCollection(list(segments), cmap=clock_colours(colour), linewidth=width, capstyle="round")
    lines.set_array(np.linspace(0, 1, len(segments)))
    axes.add_collection(lines)
    axes.plot(0, 0, "o", ms=4, color="#C00000", zorder=3, mec="white", mew=0.6)


def recovery_picture(
    best: Sequence[tuple[str, ClockPolicy]],
    path: Path,
    caption: str,
    truncation: Truncation = "largest void state",
) -> None:
    """Draw the void trajectories of ``best``, pairs of environment and policy, one panel per mode.

    Rows are modes (single-Q; two-Q's Q- and Q+), columns environments.
    """
    environments = list(dict.fromkeys(environment for environment, _ in best))
    panels: dict[tuple[str, str], np.ndarray] = {}
    for environment, policy in best:
        for mode in range(policy.modes):
            panels[mode_label(policy, mode), environment] = void_path(policy, mode, truncation)
    labels = list(dict.fromkeys(label for label, _ in panels))
    limits = _limits(list(panels.values()))
    figure, grid = plt.subplots(
        len(labels),
        len(environments),
        figsize=(7.2, 0.8 + (6.3 / len(environments) * _aspect(limits) + 0.1) * len(labels)),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for i, label in enumerate(labels):
        for j, environment in enumerate(environments):
            axes = grid[i, j]
            if (label, environment) in panels:
                draw_path(axes, panels[label, environment], COLOURS.get(environment, "#555555"))
            _dress(axes, limits)
            if i == 0:
                axes.set_title(environment, fontsize=9, color=_INK)
            if i == len(labels) - 1:
                axes.set_xlabel("x (cells)", fontsize=8)
            if j == 0:
                axes.set_ylabel(f"{label}\ny (cells)", fontsize=8)
    _wind(grid[0, 0])
    figure.supxlabel(caption, fontsize=6.5, color="#666666")
    figure.savefig(path, dpi=200)
    plt.close(figure)


def mode_label(policy: ClockPolicy, mode: int) -> str:
    """What a mode is called: Q- and Q+ for two modes."""
    if policy.modes == 1:
        return policy.name
    if policy.modes == 2:
        return f"{policy.name}: {'Q$^-$' if mode == 0 else 'Q$^+$'}"
    return f"{policy.name}: mode {mode}"


def _limits(paths: Sequence[np.ndarray]) -> tuple[float, float, float, float]:
    low = np.min([p.min(axis=0) for p in paths], axis=0)
    high = np.max([p.max(axis=0) for p in paths], axis=0)
    pad = 0.06 * max(*(high - low), 10)
    return low[0] - pad, high[0] + pad, low[1] - pad, high[1] + pad


def _aspect(limits: tuple[float, float, float, float]) -> float:
    left, right, bottom, top = limits
    return float(np.clip((top - bottom) / (right - left), 0.25, 1.6))


def _dress(axes: Axes, limits: tuple[float, float, float, float]) -> None:
    axes.set_xlim(limits[0], limits[1])
    axes.set_ylim(limits[2], limits[3])
    axes.set_aspect("equal")
    axes.tick_params(labelsize=7, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _wind(axes: Axes) -> None:
    axes.annotate(
        "", xy=(0.97, 0.93), xytext=(0.77, 0.93), xycoords="axes fraction",
        arrowprops={"arrowstyle": "->", "color": "#666666", "lw": 0.8},
    )  # fmt: skip
    axes.text(0.74, 0.93, "wind", transform=axes.transAxes, fontsize=6.5, color="#666666", ha="right", va="center")
