"""The assay: different histories of whiffs, the same long blank, and how much of the recovery the history explains.

The paper's Discussion proposes it: a clock has one recovery, two modes have two, an agent that remembers everything has
many. :mod:`protocol` reads which histories are played, :mod:`playing` plays them to agents, :mod:`shares` divides the
recoveries into what all have in common, what the history explains and chance, and :mod:`power` simulates experiments.
"""
