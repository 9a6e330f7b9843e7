"""Checks and delivers users' answers to the questions of waiting runs."""
