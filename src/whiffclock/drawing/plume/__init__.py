"""Pictures and tables of a plume's statistics."""
