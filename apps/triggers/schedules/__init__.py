"""Runs due schedules, each exactly once per scheduled time."""
