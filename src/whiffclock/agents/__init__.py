"""Searchers: each module makes a policy."""
