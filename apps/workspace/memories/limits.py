"""Limits on the number, size and lifetime of memories."""

CONTENT_CHARACTERS = 2_000
"""A memory can have at most this many characters."""
MERGED_CHARACTERS = 8_000
"""A memory that was merged from several can have at most this many characters."""
NAME_CHARACTERS = 60
"""A category or a topic can have at most this many characters."""
MOST_TOPICS = 20
MERGES_KEPT_DAYS = 30
"""The originals of merged memories are stored for this many days, so that the owner can undo the
merge.
"""
IMPORT_BYTES = 8 * 1024 * 1024
"""A file can have at most this many bytes. A larger export is written without vectors, which an
import recomputes.
"""
HIGHEST_ID = 2**53
"""The highest ID, because programs that parse JSON may round greater numbers."""
