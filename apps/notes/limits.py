"""How much there is room for."""

LONGEST_TITLE = 200
LONGEST_KEY = 600
"""A letter may become three where case does not count."""
LONGEST_TEXT = 200_000
MOST_TAGS = 50
MOST_FIELDS = 50
LONGEST_NAME = 60
"""Of a field."""
LONGEST_VALUE = 2_000
MOST_NOTES = 20_000
"""In one workspace."""
MOST_VERSIONS = 200
"""Of one note; the oldest give way."""
