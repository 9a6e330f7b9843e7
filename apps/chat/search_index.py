"""The index of the words of messages."""

from apps.workspace.word_index import WordIndex
from apps.workspace.word_index import is_indexed as is_indexed

_index = WordIndex("chat_message_words", "chat_message", ("text",))

create, drop = _index.create, _index.drop
messages_with = _index.rows_with
