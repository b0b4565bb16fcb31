"""Plots for a notebook: plume, searches, recovery paths, comparisons.

Every function takes the axes to draw into (default: new ones) and returns them.
"""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.animation import FuncAnimation
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.image import AxesImage

from whiffclock.assays.result import Assay
from whiffclock.chains import chains
from whiffclock.drawing import style
from whiffclock.drawing.assays import MOST, assay_figure
from whiffclock.drawing.boxes import box
from whiffclock.drawing.controllers import draw_controller, side_of_picture
from whiffclock.drawing.film import ACROSS, DOWNWIND, FAINT, Film, concentrations, show_all
from whiffclock.drawing.plane import TRAINED, RecoveryPath, draw_cells, draw_search, limits, wind
from whiffclock.drawing.tracks import draw_recoveries
from whiffclock.environments import trained_in
from whiffclock.notebook import ComparisonTable, Threshold, threshold_of
from whiffclock.params import require
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy
from whiffclock.pomdp.solver import Solution
from whiffclock.recovery import recovery_moves, recovery_path
from whiffclock.tracks.beside import groups_of
from whiffclock.tracks.recoveries import Recoveries
from whiffclock.tracks.track import Tracks
from whiffclock.world.trajectory import Trajectory

_MOST_FRAMES = 220
#: Radius of a node of a controller, in inches, and the smallest width of its picture.
_NODE, _SMALLEST = 0.16, 3.6


def plot_plume(
    plume: Plume, threshold: Threshold | None = None, snapshot: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the concentration in one snapshot, or the whiff probability at a threshold.

    Parameters
    ----------
    plume
        The plume.
    threshold
        Name or concentration: draw the share of snapshots with a whiff.
    snapshot
        Without a threshold, the snapshot to draw; default: the one in the middle of the record.
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> ax = wc.plot_plume(wc.builtin_plume(), "sparse")
    >>> ax.get_title(loc="left")
    'whiff probability, sparse'
    """
    ax = style.given_or_new(ax, 9, 2.6)
    if threshold is None:
        snapshot = plume.field.shape[0] // 2 if snapshot is None else snapshot
        image, title, label = _concentration(ax, plume, snapshot), f"snapshot {snapshot}", "concentration"
    else:
        at, label = threshold_of(plume, threshold), "whiff probability"
        name = plume.environments.name_of(at)
        colour = style.colours(plume.environments).get(name, style.GREY)
        shades = LinearSegmentedColormap.from_list("", ["white", colour])
        image = draw_cells(ax, plume.whiffs(at).probability(), plume.source, cmap=shades, vmin=0, vmax=1)
        title = f"{label}, {name}"
    ax.figure.colorbar(image, ax=ax, label=label, pad=0.01, fraction=0.03)
    wind(ax)
    ax.set(xlabel=DOWNWIND, ylabel=ACROSS, aspect="equal")
    ax.set_title(title, loc="left")
    return ax


def plot_search(
    trajectory: Trajectory, plume: Plume, ax: Axes | None = None, colour: str = style.COLOURS["sparse"]
) -> Axes:
    """Draw the path of a search over the plume at its first snapshot, with a dot at every whiff.

    Parameters
    ----------
    trajectory, plume
        What :func:`whiffclock.search` returned, and the plume of the search.
    ax
        Axes to draw into; default: new ones.
    colour
        Colour of the path.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> plume = wc.builtin_plume()
    >>> found = wc.search(wc.cast_and_surge(30), plume, (60, 13), "dense")
    >>> ax = wc.plot_search(found, plume)
    """
    ax = style.given_or_new(ax, 9, 2.6)
    _concentration(ax, plume, int(trajectory.snapshot[0]))
    x, y = (trajectory.position - plume.source).T
    draw_search(ax, x, y, trajectory.whiff, colour)
    wind(ax)
    show_all(ax, plume, x, y)
    whiffs, end = int(trajectory.whiff.sum()), "source found" if trajectory.arrived else "source not found"
    ax.set_title(f"{trajectory.moves} moves, {whiffs} whiffs, {end}", loc="left")
    return ax


def plot_recovery_path(policy: Policy, mode: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the path of a policy after a whiff if only blanks follow; upwind is to the left.

    The path darkens with time; the part beyond the longest blank of training is thin and grey.

    Parameters
    ----------
    policy
        Any policy.
    mode
        For a policy with several modes on a finite-state memory, which one; default: the last, for sparse odor.
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> ax = wc.plot_recovery_path(wc.cast_and_surge(30, length=60))
    """
    ax = style.given_or_new(ax, 4.5, 4)
    path = recovery_path(policy, mode)
    trained = min(recovery_moves(policy, TRAINED, mode), len(path) - 1)
    colour = style.COLOURS.get(trained_in(policy.made_from), style.GREY)
    RecoveryPath(path[: trained + 1], path[trained:]).draw(ax, colour, 1.6)
    shown = limits([path])
    ax.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel="x (cells)", ylabel="y (cells)")
    ax.set_title(f"{policy.name}, {len(path) - 1} moves after a whiff", loc="left")
    return ax


def plot_controller(policy: TablePolicy, ax: Axes | None = None) -> Axes:
    """Draw a policy with a finite-state memory as a graph: its moves, and what follows a blank and a whiff.

    A circle is a node with its move, upwind to the left, or a chain of nodes with equal moves, such as "×12": they
    follow each other on blanks, and a whiff leads from all of them to the same node. Nodes that no search can reach are
    left out. The recovery path, on blanks after a whiff, begins at the top and goes clockwise.

    Parameters
    ----------
    policy
        A searched controller, or another policy with a finite-state memory.
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> ax = wc.plot_controller(wc.cast_and_surge(30, length=12))
    >>> ax.get_title(loc="left")
    'cast-and-surge, 12 nodes'
    """
    require(isinstance(policy, TablePolicy), f"{policy!r} is no table of actions; it has no nodes to draw.")
    found = chains(policy)
    side = side_of_picture(len(found))
    inches = max(_SMALLEST, _NODE * side)
    ax = style.given_or_new(ax, inches, inches)
    width, height = (length / ax.figure.dpi for length in ax.get_window_extent().size)
    draw_controller(ax, found, policy.memory.first.tolist(), fontsize=min(10.0, 60 * min(width, height) / side))
    nodes = sum(len(chain.nodes) for chain in found)
    ax.set_title(f"{policy.name}, {nodes} nodes", loc="left")
    return ax


def plot_assay(result: Assay) -> list[Axes]:
    """Draw an assay: the recoveries of each agent, in the colours of their histories, and what the history explains.

    Parameters
    ----------
    result
        What :func:`whiffclock.assay` returned.

    Returns
    -------
    list of matplotlib.axes.Axes
        One for each agent, then that of the shares; they are in a new figure.

    Examples
    --------
    >>> import whiffclock as wc
    >>> two = {"blank": 20, "histories": {"dense": "5(W B) W", "sparse": "W B30 W"}}
    >>> axes = wc.plot_assay(wc.assay(two, wc.shipped("clock-sparse")))
    >>> axes[0].get_title(loc="left")
    'searched clock: 1 recovery'
    """
    import matplotlib.pyplot as plt

    many = f"The assay has {len(result.tested)} agents, and a picture has at most {MOST}."
    require(len(result.tested) <= MOST, many)
    return assay_figure(result, plt.figure(layout="constrained")).axes


def plot_tracks(
    recoveries: Recoveries | Tracks,
    policies: Sequence[Policy] = (),
    condition: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the recoveries of animals, with their mean, and the recovery paths of agents in the same unit.

    Parameters
    ----------
    recoveries
        What ``tracks.recoveries()`` returned; or tracks, which are cut with default settings.
    policies
        Policies with a finite-state memory.
    condition
        Only the recoveries in this condition.
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import whiffclock as wc
    >>> t = np.arange(40.0)
    >>> track = wc.Track(t, np.stack([-t, 3 * np.sin(t)], axis=1), t == 0)
    >>> ax = wc.plot_tracks(wc.Tracks((track,), "mm", cell=1.0), [wc.cast_and_surge(30, length=60)])
    >>> ax.get_xlabel()
    'x (mm)'
    """
    ax = style.given_or_new(ax, 5.5, 4)
    found = recoveries.recoveries() if isinstance(recoveries, Tracks) else recoveries
    found = found if condition is None else found.of(condition)
    require(len(found) > 0, f"There are no recoveries in the condition {condition!r}.")
    draw_recoveries(ax, groups_of(found, policies), found.unit)
    return ax


def plot_convergence(solution: Solution, ax: Axes | None = None) -> Axes:
    """Draw the bounds of a solver on the value of the initial belief, against time.

    Parameters
    ----------
    solution
        What :func:`whiffclock.pomdp.solve` returned.
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> heard, unknown = [[0.85, 0.15], [0.15, 0.85]], [[0.5, 0.5], [0.5, 0.5]]
    >>> T = [[[1, 0], [0, 1]], unknown, unknown]
    >>> R = [[-1, -1], [-100, 10], [10, -100]]
    >>> ax = wc.plot_convergence(wc.pomdp.solve(T, [heard, unknown, unknown], R, 0.95, backups=500))
    >>> ax.get_xlabel()
    'CPU time (s)'
    """
    history = solution.history
    seconds = [state.cpu_seconds for state in history]
    lower, upper = ([getattr(state, name) for state in history] for name in ("lower", "upper"))
    ax = style.given_or_new(ax, 5.0, 3.4)
    ax.fill_between(seconds, lower, upper, color=style.tint(style.COLOURS["denser"], 0.15), linewidth=0)
    for values, label, line in ((upper, "upper bound", "--"), (lower, "lower bound: value of the policy", "-")):
        ax.plot(seconds, values, color=style.COLOURS["denser"], linestyle=line, label=label)
    ax.set_xlabel("CPU time (s)")
    ax.set_ylabel("value of the initial belief")
    ax.legend()
    return ax


def plot_compare(table: ComparisonTable, metric: str = "G", ax: Axes | None = None) -> Axes:
    """Draw a metric of all agents of a comparison, environment by environment.

    Parameters
    ----------
    table
        What :func:`whiffclock.compare` returned.
    metric
        "G", "T_min/T" or "f+".
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> table = wc.compare([wc.cast_and_surge(80)], wc.builtin_plume(), "dense", snapshots=1)
    >>> ax = wc.plot_compare(table, "f+")
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['cast-and-surge,\\nas given', 'cast-and-surge']
    """
    ax = style.given_or_new(ax, 1.2 + 1.1 * len(table.rows), 3)
    shades = style.colours(dict.fromkeys(row.environment for row in table.rows if row.environment[0].isalpha()))
    for at, row in enumerate(table.rows):
        box(ax, at, row.values(metric), shades.get(row.environment, style.GREY), width=0.5)
        if len(row.evaluations) == 1:
            ax.errorbar(at, row.best.mean(metric), row.best.standard_error(metric), color=style.GREY, lw=1)
    ax.set_xticks(range(len(table.rows)), [row.agent.replace(", ", ",\n") for row in table.rows])
    for first in [i for i, row in enumerate(table.rows) if i == 0 or row.environment != table.rows[i - 1].environment]:
        name = table.rows[first].environment
        colour = style.dark(shades.get(name, style.GREY))
        ax.text(first - 0.45, 1.02, name, transform=ax.get_xaxis_transform(), color=colour)
        if first:
            ax.axvline(first - 0.5, color=style.FADED, lw=0.5)
    ax.set(xlim=(-0.5, len(table.rows) - 0.5), ylabel=style.PERFORMANCE.get(metric, metric))
    return ax


def animate_search(trajectory: Trajectory, plume: Plume, path: Path | str, fps: int = 15, title: str = "") -> Path:
    """Write a search as an animation: plume and path above, clock and phases of recovery below.

    Parameters
    ----------
    trajectory, plume
        What :func:`whiffclock.search` returned, and the plume of the search.
    path
        A ``.gif`` file, or an ``.html`` page with controls.
    fps
        Frames per second. A long search has several moves per frame.
    title
        Title of the picture; default: the origin of the plume.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import whiffclock as wc
    >>> plume = wc.builtin_plume()
    >>> found = wc.search(wc.cast_and_surge(30), plume, (6, 13), "denser", horizon=8)
    >>> wc.animate_search(found, plume, "search.gif").name
    'search.gif'
    """
    path = Path(path)
    require(path.suffix in (".gif", ".html"), f"The file is {path.name}; its name must end in .gif or .html.")
    film = Film(trajectory, plume, title or plume.origin.partition(",")[0])
    every = -(-(trajectory.moves + 1) // _MOST_FRAMES)
    frames = [*range(0, trajectory.moves, every), trajectory.moves]
    if path.suffix == ".gif":
        film.save(path, frames, fps)
    else:
        path.write_text(FuncAnimation(film.figure, film.draw, frames).to_jshtml(fps=fps), encoding="utf-8")
    return path


def _concentration(ax: Axes, plume: Plume, snapshot: int) -> AxesImage:
    norm = LogNorm(FAINT * plume.highest, plume.highest)
    return draw_cells(ax, concentrations(plume, snapshot), plume.source, norm=norm, cmap="Greys")
