"""Defines the English formats of dates, which British and American users read in the same way."""
