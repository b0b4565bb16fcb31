"""Compiled loops. They know arrays, and nothing else of the house."""
