"""Jobs: parallel execution, progress, interruption, and cached results."""
