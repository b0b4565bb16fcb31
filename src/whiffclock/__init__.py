"""whiffclock: olfactory search in turbulence with a clock as memory.

``import whiffclock as wc`` is all that a notebook needs; what it uses is imported on first use.

>>> import whiffclock as wc
>>> plume = wc.builtin_plume()
>>> single = wc.train(plume, "sparse", episodes=100_000)
>>> double = wc.train(plume, "sparse", tau=10, episodes=100_000)
>>> wc.evaluate(single, plume, snapshots=4)
Evaluation(single-Q in sparse: G ..., T_min/T ..., f+ ...; ... searches)
>>> found = wc.search(single, plume, start=(100, 13))
>>> ax = wc.plot_search(found, plume)
>>> table = wc.compare([single, double], plume, snapshots=4)
>>> ax = wc.plot_compare(table)
"""

from __future__ import annotations

from importlib import import_module

from whiffclock import registration as _registration

TYPE_CHECKING = False  # as in typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

    from whiffclock import pomdp as pomdp
    from whiffclock.agents.bayes import infotaxis, qmdp
    from whiffclock.agents.castsurge import cast_and_surge
    from whiffclock.agents.compose import heuristic_two_q
    from whiffclock.agents.function import from_function
    from whiffclock.agents.shipped import shipped
    from whiffclock.assays.result import assay
    from whiffclock.environments import PAPER, Environments
    from whiffclock.export.files import export_policy
    from whiffclock.memory import Memory, clock, controller, window
    from whiffclock.notebook import (
        check_plume,
        compare,
        evaluate,
        fetch_plume,
        load_policy,
        optimize,
        read_plume,
        reproduce,
        search,
        solve_bayes,
        sweep,
        train,
        view,
    )
    from whiffclock.params import InputError, WorldSettings
    from whiffclock.path_metrics import geometry
    from whiffclock.plots import (
        animate_search,
        plot_assay,
        plot_compare,
        plot_controller,
        plot_convergence,
        plot_plume,
        plot_recovery_path,
        plot_search,
        plot_tracks,
    )
    from whiffclock.plume.builtin import builtin_plume
    from whiffclock.plume.plume import Plume
    from whiffclock.policy import Policy, TablePolicy
    from whiffclock.recovery import recovery_path
    from whiffclock.sweep_plots import plot_sweep
    from whiffclock.tracks.reading import read_tracks
    from whiffclock.tracks.track import Track, Tracks
    from whiffclock.world.moves import ACTIONS

__version__ = "0.2.0"

__all__ = [
    "ACTIONS",
    "PAPER",
    "Environments",
    "InputError",
    "Memory",
    "Plume",
    "Policy",
    "TablePolicy",
    "Track",
    "Tracks",
    "WorldSettings",
    "animate_search",
    "assay",
    "builtin_plume",
    "cast_and_surge",
    "check_plume",
    "clock",
    "compare",
    "controller",
    "evaluate",
    "export_policy",
    "fetch_plume",
    "from_function",
    "geometry",
    "heuristic_two_q",
    "infotaxis",
    "load_policy",
    "optimize",
    "plot_assay",
    "plot_compare",
    "plot_controller",
    "plot_convergence",
    "plot_plume",
    "plot_recovery_path",
    "plot_search",
    "plot_sweep",
    "plot_tracks",
    "qmdp",
    "read_plume",
    "read_tracks",
    "recovery_path",
    "reproduce",
    "search",
    "shipped",
    "solve_bayes",
    "sweep",
    "train",
    "view",
    "window",
]  # fmt: skip

#: Modules of public names that are not in ``notebook``.
_PLACES = {
    "agents.bayes": "infotaxis qmdp",
    "agents.castsurge": "cast_and_surge",
    "agents.compose": "heuristic_two_q",
    "agents.function": "from_function",
    "agents.shipped": "shipped",
    "assays.result": "assay",
    "path_metrics": "geometry",
    "memory": "Memory clock controller window",
    "environments": "Environments PAPER",
    "export.files": "export_policy",
    "params": "InputError WorldSettings",
    "plots": (
        "animate_search plot_assay plot_compare plot_controller plot_convergence plot_plume "
        "plot_recovery_path plot_search plot_tracks"
    ),
    "plume.builtin": "builtin_plume",
    "plume.plume": "Plume",
    "policy": "Policy TablePolicy",
    "recovery": "recovery_path",
    "sweep_plots": "plot_sweep",
    "tracks.reading": "read_tracks",
    "tracks.track": "Track Tracks",
    "world.moves": "ACTIONS",
}
_MODULE = dict.fromkeys(__all__, "notebook") | {name: at for at, names in _PLACES.items() for name in names.split()}
#: Names of version 0.1 and the present ones.
_RENAMED = {"void_path": "recovery_path", "plot_void_path": "plot_recovery_path", "ENVIRONMENTS": "PAPER"}


_registration.register()


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _RENAMED:
        import warnings

        new = _RENAMED[name]
        warnings.warn(f"whiffclock.{name} is called {new} now.", DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name == "pomdp":
        return import_module(f"{__name__}.pomdp")
    if name in _MODULE:
        return globals().setdefault(name, getattr(import_module(f"{__name__}.{_MODULE[name]}"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__", "pomdp"]
