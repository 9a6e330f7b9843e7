"""Defines English date formats that British and American users read in the same way."""
