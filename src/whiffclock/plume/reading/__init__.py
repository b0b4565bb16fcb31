"""Plumes from files of all kinds, and back."""
