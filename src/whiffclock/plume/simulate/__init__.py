"""Direct numerical simulation of a channel flow and the odor in it."""
