"""Defines the limits on the size and number of notes."""

LONGEST_TITLE = 200
LONGEST_KEY = 600
"""The maximum length of a title's key (see `title_key`). One letter of a title may become three in
the key.
"""
LONGEST_TEXT = 200_000
MOST_TAGS = 50
MOST_FIELDS = 50
LONGEST_NAME = 60
"""The maximum number of characters in a field name."""
LONGEST_VALUE = 2_000
MOST_NOTES = 20_000
"""The maximum number of notes in a workspace."""
MOST_VERSIONS = 200
"""At most this many versions of a note are stored. Older ones are deleted."""
