"""The page that shows agents searching: one HTML file, with plume, policies and program inside."""
