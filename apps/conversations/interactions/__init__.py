"""Processes users' answers to the questions of waiting runs."""
