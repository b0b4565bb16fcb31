"""How work is carried out: several trainings at once, progress, a clean stop, and results that stay."""
