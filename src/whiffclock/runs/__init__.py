"""How work is carried out: several trainings at once, progress, and a clean stop."""
