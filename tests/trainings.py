"""Trainings as tests want them: episodes as long as the memory has states."""

from dataclasses import replace

from whiffclock.agents.qlearning import Task
from whiffclock.memory import clock
from whiffclock.params import LearningSettings, WorldSettings


def clock_task(plume, threshold, memory=None, learning=None, world=None, seed=0):
    """A training with H = number of clock states."""
    memory = memory or clock()
    learning = replace(learning or LearningSettings(), horizon=memory.length)
    return Task(plume, threshold, memory, learning, world or WorldSettings(), seed)
