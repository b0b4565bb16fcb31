"""Readings of the paper where its text is ambiguous (docs/paper.md), and what each of them changes."""
