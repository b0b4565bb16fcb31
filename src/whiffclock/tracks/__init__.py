"""Trajectories of animals and robots: read, cut into recoveries, measured as agents are."""
