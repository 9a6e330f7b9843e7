"""Formats of dates and numbers that replace the formats of Django."""
