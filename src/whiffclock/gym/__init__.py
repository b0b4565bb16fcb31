"""The search as an environment of Gymnasium 1, for learners from elsewhere (``pip install whiffclock[gym]``).

``gymnasium.make("whiffclock/Search-v0")`` makes one search, and
``gymnasium.make_vec("whiffclock/Search-v0", num_envs=4096)`` many at the same time, after ``import whiffclock``; see
:mod:`whiffclock.gym.environments` and :mod:`whiffclock.gym.observations`.
"""

try:
    import gymnasium as _gymnasium  # noqa: F401
except ImportError as error:
    raise ImportError("whiffclock.gym needs Gymnasium: pip install 'whiffclock[gym]'.") from error
