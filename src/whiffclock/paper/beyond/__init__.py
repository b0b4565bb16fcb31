"""Beyond the paper: how good can a clock be?

Programs are searched directly (:mod:`whiffclock.agents.programs`) in the first half of the record. All agents here are
tested in the second half. Figures B1 to B4, datasets and verdicts are apart from the paper's own.
"""
