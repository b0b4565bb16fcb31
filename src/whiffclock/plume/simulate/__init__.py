"""The channel flow and the odor in it: turbulence from first principles."""
