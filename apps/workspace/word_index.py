"""Indexes of the words in columns of a table, made in the database itself, which keeps them in step.

SQLite: a table of trigrams (FTS5) that triggers fill. A migration that makes Django copy the indexed
table on SQLite loses the triggers, so it has to call `drop` and `create` again.
PostgreSQL: an index on an expression, of words in lower case.
"""
# ruff: noqa: S608 - all that is put into these statements are names that modules here give

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.expressions import RawSQL

INDEXED_CHARACTERS = 100_000
"""Of one row, on PostgreSQL: all its different words have to fit into one megabyte."""
SHORTEST = 3
"""Characters that make a trigram."""
MARKS = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
"""They part words; PostgreSQL would keep addresses and paths whole, and find no word inside."""

_unspaced = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Scripts that put no spaces between words, or that PostgreSQL takes for one word: Thai, Chinese …
Hebrew and Arabic write articles and prepositions as the beginning of the word."""


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The index `name` over text `columns` of a table whose key is `id`."""

    name: str
    table: str
    columns: Sequence[str]

    def create(self, apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        """A step of a migration, as `drop` is."""
        self.execute({"sqlite": self.sqlite(), "postgresql": self.postgresql()}, schema_editor)

    def drop(self, apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        triggers = [f"DROP TRIGGER IF EXISTS {self.name}_{name}" for name in self.triggers()]
        dropped = {
            "sqlite": (*triggers, f"DROP TABLE {self.name}"),
            "postgresql": (f"DROP INDEX {self.name}",),
        }
        self.execute(dropped, schema_editor)

    def execute(
        self, statements: Mapping[str, Sequence[str]], schema_editor: BaseDatabaseSchemaEditor
    ) -> None:
        for statement in statements.get(schema_editor.connection.vendor, ()):
            schema_editor.execute(statement, params=None)

    def sqlite(self) -> Sequence[str]:
        return (
            f"CREATE VIRTUAL TABLE {self.name} USING fts5({self.listed()}, "
            f"content='{self.table}', content_rowid='id', tokenize='trigram')",
            *(
                f"CREATE TRIGGER {self.name}_{name} {does}"
                for name, does in self.triggers().items()
            ),
            f"INSERT INTO {self.name} ({self.name}) VALUES ('rebuild')",
        )

    def postgresql(self) -> Sequence[str]:
        return (f"CREATE INDEX {self.name} ON {self.table} USING gin ({self.words()})",)

    def triggers(self) -> dict[str, str]:
        index, columns = self.name, self.listed()
        removed = (
            f"INSERT INTO {index} ({index}, rowid, {columns}) "
            f"VALUES ('delete', old.id, {self.listed('old.')})"
        )
        added = f"INSERT INTO {index} (rowid, {columns}) VALUES (new.id, {self.listed('new.')})"
        return {
            "insert": f"AFTER INSERT ON {self.table} BEGIN {added}; END",
            "update": f"AFTER UPDATE OF {columns} ON {self.table} BEGIN {removed}; {added}; END",
            "delete": f"AFTER DELETE ON {self.table} BEGIN {removed}; END",
        }

    def listed(self, prefix: str = "") -> str:
        return ", ".join(f"{prefix}{column}" for column in self.columns)

    def words(self) -> str:
        """The expression that PostgreSQL indexes and searches."""
        text = " || ' ' || ".join(self.columns)
        marks = MARKS.replace("'", "''")
        return (
            f"to_tsvector('simple', translate(left({text}, {INDEXED_CHARACTERS}), "
            f"'{marks}', '{' ' * len(MARKS)}'))"
        )

    def rows_with(self, word: str) -> RawSQL:
        """The keys of all rows with a word that `is_indexed`, in upper or lower case.

        SQLite finds it anywhere, PostgreSQL where a word begins with it.
        """
        if connection.vendor == "postgresql":
            matching = self.words().replace("%", "%%")
            statement = f"SELECT id FROM {self.table} WHERE {matching} @@ to_tsquery('simple', %s)"
            quoted = f"'{word}':*"
        else:
            statement = f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH %s"
            quoted = '"' + word.replace('"', '""') + '"'
        return RawSQL(statement, [quoted])  # noqa: S611 - the word is a parameter


def is_indexed(word: str) -> bool:
    """Whether an index can find the word; where it cannot, texts have to be read."""
    if len(word) < SHORTEST or connection.vendor not in ("sqlite", "postgresql"):
        return False
    return connection.vendor == "sqlite" or (word.isalnum() and not _unspaced.search(word))
