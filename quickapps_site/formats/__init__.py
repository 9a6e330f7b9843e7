"""Defines the formats of dates and numbers by language, which replace Django's own."""
