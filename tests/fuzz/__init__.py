"""A fuzzer of everything that the program reads: ``make fuzz SECONDS=600 SEED=1``, or ``python -m fuzz --help``."""
