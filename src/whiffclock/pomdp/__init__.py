"""POMDPs, and SARSOP to solve them; independent of plumes."""
