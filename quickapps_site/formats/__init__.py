"""Formats of dates and numbers that replace Django's own."""
