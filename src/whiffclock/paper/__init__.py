"""Reproduction of the paper: datasets, figures, claims, report."""
