"""Defines the limits on the number, size and lifetime of memories."""

CONTENT_CHARACTERS = 2_000
"""The maximum length of a memory in characters."""
MERGED_CHARACTERS = 8_000
"""The maximum length in characters of a memory that was merged from several."""
NAME_CHARACTERS = 60
"""The maximum length of a category or topic in characters."""
MOST_TOPICS = 20
MERGES_KEPT_DAYS = 30
"""A merge can be undone, and its originals are stored, for this many days."""
IMPORT_BYTES = 8 * 1024 * 1024
"""The maximum size of an imported file in bytes. A larger export is written without vectors, which
an import recomputes.
"""
HIGHEST_ID = 2**53
"""The upper limit for IDs, because programs that parse JSON may round larger numbers."""
