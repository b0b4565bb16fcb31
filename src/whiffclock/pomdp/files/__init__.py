"""POMDPs and policies in the files that other solvers read and write."""
