"""Defines the full-text index for messages."""

from apps.workspace.word_index import WordIndex
from apps.workspace.word_index import is_indexed as is_indexed

INDEX = WordIndex("chat_message_words", "chat_message", ("text",))

create, drop, store_vectors = INDEX.create, INDEX.drop, INDEX.store_vectors
messages_with, count_messages_with, has_word = (
    INDEX.rows_with,
    INDEX.count_rows_with,
    INDEX.has_word,
)
