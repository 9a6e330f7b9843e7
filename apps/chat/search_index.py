"""The index of the words of messages, made in the database itself, which keeps it in step.

SQLite: a table of trigrams (FTS5) that triggers fill. A migration that makes Django copy
`chat_message` on SQLite loses the triggers, so it has to call `drop` and `create` again.
PostgreSQL: an index on an expression, of words in lower case.
"""
# ruff: noqa: S608 - all that is put into these statements are constants of this module

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.expressions import RawSQL

TABLE = "chat_message"
INDEX = "chat_message_words"
INDEXED_CHARACTERS = 100_000
"""Of one message, on PostgreSQL: all its different words have to fit into one megabyte."""
SHORTEST = 3
"""Characters that make a trigram."""
MARKS = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
"""They part words; PostgreSQL would keep addresses and paths whole, and find no word inside."""

_unspaced = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Scripts that put no spaces between words, or that PostgreSQL takes for one word: Thai, Chinese …"""
_quoted_marks = MARKS.replace("'", "''")
WORDS = (
    f"to_tsvector('simple', translate(left(text, {INDEXED_CHARACTERS}), "
    f"'{_quoted_marks}', '{' ' * len(MARKS)}'))"
)
_removed = f"INSERT INTO {INDEX} ({INDEX}, rowid, text) VALUES ('delete', old.id, old.text)"
_added = f"INSERT INTO {INDEX} (rowid, text) VALUES (new.id, new.text)"
_triggers = {
    "insert": f"AFTER INSERT ON {TABLE} BEGIN {_added}; END",
    "update": f"AFTER UPDATE OF text ON {TABLE} BEGIN {_removed}; {_added}; END",
    "delete": f"AFTER DELETE ON {TABLE} BEGIN {_removed}; END",
}
CREATE: Mapping[str, Sequence[str]] = {
    "sqlite": (
        f"CREATE VIRTUAL TABLE {INDEX} USING fts5"
        f"(text, content='{TABLE}', content_rowid='id', tokenize='trigram')",
        *(f"CREATE TRIGGER {INDEX}_{name} {what}" for name, what in _triggers.items()),
        f"INSERT INTO {INDEX} ({INDEX}) VALUES ('rebuild')",
    ),
    "postgresql": (f"CREATE INDEX {INDEX} ON {TABLE} USING gin ({WORDS})",),
}
DROP: Mapping[str, Sequence[str]] = {
    "sqlite": (
        *(f"DROP TRIGGER IF EXISTS {INDEX}_{name}" for name in _triggers),
        f"DROP TABLE {INDEX}",
    ),
    "postgresql": (f"DROP INDEX {INDEX}",),
}
MATCHING = {
    "sqlite": f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH %s",
    "postgresql": (
        f"SELECT id FROM {TABLE} WHERE {WORDS.replace('%', '%%')} @@ to_tsquery('simple', %s)"
    ),
}


def create(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in CREATE.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement, params=None)


def drop(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in DROP.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement, params=None)


def is_indexed(word: str) -> bool:
    """Whether `messages_with` can find the word; where it cannot, texts have to be read."""
    if len(word) < SHORTEST or connection.vendor not in MATCHING:
        return False
    return connection.vendor == "sqlite" or (word.isalnum() and not _unspaced.search(word))


def messages_with(word: str) -> RawSQL:
    """The keys of all messages with a word that `is_indexed`, in upper or lower case.

    SQLite finds it anywhere, PostgreSQL where a word begins with it.
    """
    quoted = (
        f"'{word}':*" if connection.vendor == "postgresql" else '"' + word.replace('"', '""') + '"'
    )
    return RawSQL(MATCHING[connection.vendor], [quoted])  # noqa: S611 - the word is a parameter
