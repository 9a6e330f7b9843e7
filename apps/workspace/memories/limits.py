"""Defines the limits on the number, size and lifetime of memories."""

CONTENT_CHARACTERS = 2_000
"""The maximum number of characters of a memory."""
MERGED_CHARACTERS = 8_000
"""The maximum number of characters of a memory that was merged from several."""
NAME_CHARACTERS = 60
"""The maximum number of characters of a category or a topic."""
MOST_TOPICS = 20
MERGES_KEPT_DAYS = 30
"""A merge can be undone, and its originals are stored, for this many days."""
IMPORT_BYTES = 8 * 1024 * 1024
"""The maximum number of bytes of an imported file. A larger export is written without vectors,
which an import recomputes.
"""
HIGHEST_ID = 2**53
"""The upper limit for IDs, because programs that parse JSON may round greater numbers."""
