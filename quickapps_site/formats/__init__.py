"""Formats of dates and numbers, which replace Django's formats."""
