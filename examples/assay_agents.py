"""Agents to compare in an assay; on the command line, examples.assay_agents:two_q is one of them."""

import whiffclock as wc
from whiffclock.agents.shipped import trained


def single_q() -> wc.Policy:
    """A clock, trained in the sparse environment of the built-in plume."""
    return _trained("single-Q")


def two_q() -> wc.Policy:
    """A clock with two modes, trained there."""
    return _trained("two-Q")


def bayes() -> wc.Policy:
    """A Bayesian agent that needs no solver: QMDP."""
    return wc.qmdp(wc.builtin_plume(), "sparse")


def _trained(name: str) -> wc.Policy:
    return next(one for one in trained() if (one.name, one.made_from["environment"]) == (name, "sparse"))
