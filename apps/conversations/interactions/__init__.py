"""Processes users' answers to the questions that waiting runs ask."""
