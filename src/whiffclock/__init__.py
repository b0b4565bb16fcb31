"""whiffclock: olfactory search in turbulence with a clock for a memory."""

__version__ = "0.1.0"
