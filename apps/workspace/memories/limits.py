"""How much is remembered, and for how long."""

CONTENT_CHARACTERS = 2_000
"""Of one memory."""
MERGED_CHARACTERS = 8_000
"""Of a memory that was merged from several."""
NAME_CHARACTERS = 60
"""Of a category and of a topic."""
MOST_TOPICS = 20
MERGES_KEPT_DAYS = 30
"""So long the originals of merged memories are kept, and their owner can undo the merge."""
IMPORT_BYTES = 8 * 1024 * 1024
"""Of a file; an export that would have more is written without vectors, which an import makes anew."""
HIGHEST_ID = 2**53
"""A greater number is not the same in every program that reads JSON."""
