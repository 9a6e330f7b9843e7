"""Limits on the number, size and lifetime of memories."""

CONTENT_CHARACTERS = 2_000
"""The maximum number of characters of a memory."""
MERGED_CHARACTERS = 8_000
"""The maximum number of characters of a memory that was merged from several."""
NAME_CHARACTERS = 60
"""The maximum number of characters of a category or a topic."""
MOST_TOPICS = 20
MERGES_KEPT_DAYS = 30
"""The number of days for which the originals of merged memories are stored, so that the owner can
undo the merge.
"""
IMPORT_BYTES = 8 * 1024 * 1024
"""The maximum number of bytes of a file. A larger export is written without vectors, which an
import recomputes.
"""
HIGHEST_ID = 2**53
"""The highest ID, because programs that parse JSON may round greater numbers."""
