"""What people look at: tables and pictures. It reads results and never simulates."""
