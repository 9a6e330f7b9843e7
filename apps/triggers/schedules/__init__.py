"""Sends the messages of schedules, exactly once for each scheduled time."""
