"""POMDPs, and SARSOP to solve them. This room knows beliefs, and nothing of odor."""
