"""Defines the size limits of notes."""

LONGEST_TITLE = 200
LONGEST_KEY = 600
"""The maximum number of characters in a key. One letter of a title may become three letters in its
key.
"""
LONGEST_TEXT = 200_000
MOST_TAGS = 50
MOST_FIELDS = 50
LONGEST_NAME = 60
"""The maximum number of characters in a field's name."""
LONGEST_VALUE = 2_000
MOST_NOTES = 20_000
"""The maximum number of notes in one workspace."""
MOST_VERSIONS = 200
"""The number of versions that are stored for each note. Older versions are deleted."""
