"""Size limits of notes."""

LONGEST_TITLE = 200
LONGEST_KEY = 600
"""A key can have at most this many characters. One letter of a title may become three in its key.
"""
LONGEST_TEXT = 200_000
MOST_TAGS = 50
MOST_FIELDS = 50
LONGEST_NAME = 60
"""A field's name can have at most this many characters."""
LONGEST_VALUE = 2_000
MOST_NOTES = 20_000
"""A workspace can have at most this many notes."""
MOST_VERSIONS = 200
"""A note can have at most this many versions; the oldest ones are deleted."""
