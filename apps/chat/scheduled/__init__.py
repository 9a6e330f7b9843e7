"""The page "Scheduled"."""
