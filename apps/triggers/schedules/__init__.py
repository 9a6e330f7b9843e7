"""Runs due schedules, each time exactly once."""
