"""The world of a search: moves, starts, the step rule, worlds, the search loop, trajectories."""
