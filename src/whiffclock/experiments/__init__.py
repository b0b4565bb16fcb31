"""What to run, and what to compute from it; one module per question."""
