"""Validates users' answers to the questions of waiting runs, and delivers them to the runs."""
