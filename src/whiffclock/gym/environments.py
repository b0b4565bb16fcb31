"""The environments ``whiffclock/Search-v0``: many searches at the same time, and one.

What happens in a step is the rule of all searches of this package: the agent moves by one cell, time advances by one
snapshot, and the agent observes its new place. **Reward** is 1 for the move that enters the source region, and
-(1 - gamma) for any other, as in the paper; discounted with gamma, its sum is G of :func:`whiffclock.evaluate`. A
search is *terminated* in the source region, and *truncated* after ``horizon`` moves without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from whiffclock.gym.batch import Batch
from whiffclock.params import InputError, require
from whiffclock.plain_values import shown
from whiffclock.world.moves import N_ACTIONS

if TYPE_CHECKING:
    from whiffclock.gym.pictures import Paths

_RENDERING = {"render_modes": ["rgb_array"], "render_fps": 15}
_ENDED = "The search has ended; reset the environment before the next step."
_NOT_BEGUN = "The search has not begun; reset the environment first."
_MODES = ", ".join(repr(mode.value) for mode in AutoresetMode)


class SearchVectorEnv(VectorEnv):
    """Many searches in one plume, moved in one call of a compiled kernel.

    Parameters
    ----------
    num_envs
        Number of searches.
    autoreset_mode
        How searches that have ended begin again, as ``gymnasium.vector.AutoresetMode`` or its value: in the next step
        (then without move and reward), in the same step (``infos["final_obs"]`` has the last observation, and
        ``infos["final_info"]``), or by ``reset(options={"reset_mask": ...})`` only.
    render_mode
        "rgb_array": :meth:`render` draws plume, path and clock of each search.
    **settings
        ``plume``, ``threshold``, ``observation``, ``horizon``, ``gamma`` and ``world``, as
        :class:`whiffclock.gym.batch.Batch` describes them.

    Notes
    -----
    ``reset(seed=...)`` determines everything. ``options["start"]`` is where searches begin, (x, y) at snapshot 0 or
    (x, y, snapshot), for all of them or a row for each; by default starts are uniform over start cells and snapshots.
    ``infos`` have the ``cell`` (x, y) and ``snapshot`` of each search.
    """

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self._batch = Batch(num_envs, **settings)
        self.num_envs, self.render_mode = self._batch.count, render_mode
        self._mode = _mode_of(autoreset_mode)
        self.metadata = _RENDERING | {"autoreset_mode": self._mode}
        self.single_observation_space = self._batch.observations.space
        self.single_action_space = gymnasium.spaces.Discrete(N_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._paths = _paths(render_mode, self._batch)
        self._all = np.ones(self.num_envs, dtype=np.bool_)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin all searches, or those in ``options["reset_mask"]``."""
        super().reset(seed=seed)
        given = _options(options, "start", "reset_mask")
        which = self._masked(given.get("reset_mask"))
        self._batch.seed(self.np_random, which)
        self._batch.begin(which, given.get("start"))
        if self._paths:
            self._paths.keep(again=self._begun)
        self._begun = True
        return self._batch.observed(), self._infos(which)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Move all searches; observations, rewards, whether terminated, whether truncated, infos."""
        batch, infos = self._batch, {}
        if not self._begun:
            raise ResetNeeded(_NOT_BEGUN)
        if self._mode is AutoresetMode.DISABLED and batch.ended.any():
            raise ResetNeeded(f"Search {batch.ended.argmax()} has ended; reset it before the next step.")
        reward, ends = np.empty(self.num_envs), np.empty((2, self.num_envs), dtype=np.bool_)
        batch.step(actions, np.asarray(actions), reward, ends)
        if self._mode is AutoresetMode.SAME_STEP and batch.ended.any():
            infos = self._final(ended := batch.ended.copy())
            batch.begin(ended)
        if self._paths:
            self._paths.keep()
        return batch.observed(), reward, ends[0], ends[1], infos | self._infos(self._all)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Pictures uint8[height, width, 3] of all searches."""
        if self._paths is None:
            _warn_of_no_pictures(self)
            return None
        if not self._begun:
            raise ResetNeeded(_NOT_BEGUN)
        return tuple(self._paths.picture(i) for i in range(self.num_envs))

    def _masked(self, mask: Any) -> np.ndarray:
        """Which searches are to be reset."""
        if mask is None:
            return self._all
        fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        require(fits, f"The reset_mask is {shown(mask)}; it must be an array of {self.num_envs} values of type bool.")
        require(bool(mask.any()), "The reset_mask has no search in it; it must have one at least.")
        require(self._begun or bool(mask.all()), "The first reset must begin all searches; leave out the reset_mask.")
        return mask

    def _infos(self, which: np.ndarray) -> dict[str, Any]:
        """Cell and snapshot of some of the searches, in Gymnasium's form: zeros and False for the others."""
        state = self._batch.state[:3]
        place = state.copy() if which is self._all else state * which
        return {"cell": place[:2].T, "_cell": which.copy(), "snapshot": place[2], "_snapshot": which.copy()}

    def _final(self, ended: np.ndarray) -> dict[str, Any]:
        """The last observations and infos of searches that have ended."""
        observed, last = self._batch.observed(), np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended).tolist():
            last[i] = self._batch.observations.of_one(observed, i)
        infos = {"final_obs": last, "_final_obs": ended, "final_info": self._infos(ended)}
        return infos | {"_final_info": ended.copy()}


class SearchEnv(gymnasium.Env):
    """One search in a plume.

    Its parameters are those of :class:`SearchVectorEnv` without ``num_envs`` and ``autoreset_mode``. The option of
    :meth:`reset` is ``start``.
    """

    metadata = _RENDERING

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        self._batch = Batch(1, **settings)
        self.observation_space = self._batch.observations.space
        self.action_space = gymnasium.spaces.Discrete(N_ACTIONS)
        self.render_mode, self._paths = render_mode, _paths(render_mode, self._batch)
        self._one, self._now = np.ones(1, dtype=np.bool_), self._batch.state[:, 0]
        self._begun = self._going = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a search: at random, or at ``options["start"]``."""
        super().reset(seed=seed)
        start = _options(options, "start").get("start")
        self._batch.seed(self.np_random, self._one)
        self._batch.begin(self._one, start)
        if self._paths:
            self._paths.keep()
        self._begun = self._going = True
        return self._seen()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move; observation, reward, whether terminated, whether truncated, info."""
        if not self._going:
            raise ResetNeeded(_ENDED if self._begun else _NOT_BEGUN)
        reward, end = self._batch.step_one(action)
        if self._paths:
            self._paths.keep()
        self._going = end == 0
        seen, info = self._seen()
        return seen, reward, end == 1, end == 2, info

    def render(self) -> np.ndarray | None:
        """A picture uint8[height, width, 3] of plume, path and clock."""
        if self._paths is None:
            _warn_of_no_pictures(self)
            return None
        if not self._begun:
            raise ResetNeeded(_NOT_BEGUN)
        return self._paths.picture(0)

    def _seen(self) -> tuple[Any, dict[str, Any]]:
        """What the search observes, and its info."""
        batch, now = self._batch, self._now.tolist()
        seen = batch.observations.of_first(now, batch.recent, batch.odor)
        return seen, {"cell": self._now[:2].copy(), "snapshot": now[2]}


def _mode_of(given: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError as error:
        raise InputError(f"The autoreset_mode is {shown(given)}; it must be one of {_MODES}.") from error


def _options(given: dict[str, Any] | None, *known: str) -> dict[str, Any]:
    """Options of a reset, none of which is unknown."""
    options = given or {}
    for name in options:
        require(name in known, f"A reset has no option {shown(name)}; there is {' and '.join(known)}.")
    return options


def _paths(render_mode: str | None, batch: Batch) -> Paths | None:
    """The record of paths that pictures need, if there are to be pictures."""
    if render_mode is None:
        return None
    require(render_mode == "rgb_array", f"The render_mode is {shown(render_mode)}; it must be 'rgb_array' or None.")
    from whiffclock.gym.pictures import Paths

    return Paths(batch)


def _warn_of_no_pictures(environment: gymnasium.Env | VectorEnv) -> None:
    gymnasium.logger.warn(f"{environment} draws nothing; make it with render_mode='rgb_array' to see searches.")
