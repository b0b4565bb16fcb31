"""Agents: each module makes a policy."""
