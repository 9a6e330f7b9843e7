"""Creates and searches word indexes for text columns of a table. Database triggers update the
indexes.

On SQLite, an index is a table of trigrams (FTS5). The triggers are lost if a migration makes Django
copy the indexed table, so such a migration has to call `drop` and `create`. On PostgreSQL, an index
is a table with the lower-case words in each row. Adding a column to the indexed table instead would
rewrite this table.
"""
# ruff: noqa: S608 - these statements contain only names from modules of this project

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

BATCH = 1_000
"""The number of row IDs that one transaction indexes, so that other writers are not blocked for
long.
"""
INDEXED_CHARACTERS = 100_000
"""Only this many characters of a row are indexed on PostgreSQL, because the distinct words must fit
into one megabyte.
"""
SHORTEST = 3
"""The minimum length of an indexed word in characters: the length of a trigram."""
MARKS = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
"""The characters that separate words. PostgreSQL would otherwise treat addresses and paths as
single words.
"""

_unspaced = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Matches characters of scripts that PostgreSQL does not split into words: Thai, Chinese and others
without spaces. It also matches Hebrew and Arabic, where articles and prepositions are prefixes of
words.
"""


@dataclass(frozen=True, slots=True)
class WordIndex:
    """An index of the text `columns` of a table whose primary key is `id`."""

    name: str
    """The index's name in the database."""
    table: str
    columns: Sequence[str]

    def create(self, apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        """Create the index, as a step of a migration."""
        self.execute({"sqlite": self.sqlite(), "postgresql": self.postgresql()}, schema_editor)

    def drop(self, apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        triggers = [f"DROP TRIGGER IF EXISTS {self.name}_{name}" for name in self.triggers()]
        dropped = {
            "sqlite": (*triggers, f"DROP TABLE {self.name}"),
            "postgresql": (
                f"DROP FUNCTION IF EXISTS {self.vectors}_fill() CASCADE",
                f"DROP TABLE IF EXISTS {self.vectors}",
            ),
        }
        self.execute(dropped, schema_editor)

    def store_vectors(self, apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        """Replace the old PostgreSQL index, which was on an expression, while other transactions
        are writing. This is a step of a non-atomic migration, and can be repeated after an
        interruption.
        """
        if schema_editor.connection.vendor != "postgresql":
            return
        for statement in self.filled_table():
            schema_editor.execute(statement, params=None)
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM {self.table}")
            first, last = cursor.fetchone()
            for start in range(first, last + 1, BATCH):
                cursor.execute(
                    f"INSERT INTO {self.vectors} SELECT id, {self.words()} FROM {self.table} "
                    f"WHERE id >= {start} AND id < {start + BATCH} ON CONFLICT DO NOTHING"
                )
        for statement in (
            f"DROP INDEX CONCURRENTLY IF EXISTS {self.vectors}_words",
            f"CREATE INDEX CONCURRENTLY {self.vectors}_words ON {self.vectors} USING gin (words)",
            f"DROP INDEX CONCURRENTLY IF EXISTS {self.name}",
        ):
            schema_editor.execute(statement, params=None)

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
        """Return the statements that create the index in PostgreSQL, for a table to which nothing
        else is writing.
        """
        return (
            *self.filled_table(),
            f"INSERT INTO {self.vectors} SELECT id, {self.words()} FROM {self.table}",
            f"CREATE INDEX {self.vectors}_words ON {self.vectors} USING gin (words)",
        )

    def filled_table(self) -> Sequence[str]:
        new, old = self.listed("new."), self.listed("old.")
        function = f"{self.vectors}_fill"
        return (
            f"CREATE TABLE IF NOT EXISTS {self.vectors} "
            "(id bigint PRIMARY KEY, words tsvector NOT NULL)",
            f"""
            CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF tg_op = 'TRUNCATE' THEN
                    TRUNCATE {self.vectors};
                ELSIF tg_op = 'DELETE' THEN
                    DELETE FROM {self.vectors} WHERE id = old.id;
                ELSIF tg_op = 'INSERT' OR row({new}) IS DISTINCT FROM row({old}) THEN
                    INSERT INTO {self.vectors} VALUES (new.id, {self.words("new.")})
                    ON CONFLICT (id) DO UPDATE SET words = excluded.words;
                END IF;
                RETURN NULL;
            END $$
            """,
            f"DROP TRIGGER IF EXISTS {self.vectors}_row ON {self.table}",
            f"CREATE TRIGGER {self.vectors}_row AFTER INSERT OR DELETE OR UPDATE OF {self.listed()} "
            f"ON {self.table} FOR EACH ROW EXECUTE FUNCTION {function}()",
            f"DROP TRIGGER IF EXISTS {self.vectors}_all ON {self.table}",
            f"CREATE TRIGGER {self.vectors}_all AFTER TRUNCATE "
            f"ON {self.table} FOR EACH STATEMENT EXECUTE FUNCTION {function}()",
        )

    @property
    def vectors(self) -> str:
        """Return the name of the index's table in PostgreSQL. `name` is the name of the old index
        on an expression.
        """
        return f"{self.name}_stored"

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

    def words(self, prefix: str = "") -> str:
        """Return the SQL expression for the words in a row. `prefix` precedes each column's name.
        Positions are stripped, because each word is searched separately.
        """
        text = " || ' ' || ".join(f"{prefix}{column}" for column in self.columns)
        marks = MARKS.replace("'", "''")
        return (
            f"strip(to_tsvector('simple', translate(left({text}, {INDEXED_CHARACTERS}), "
            f"'{marks}', '{' ' * len(MARKS)}')))"
        )

    def rows_with(self, word: str) -> RawSQL:
        """Return a subquery for the primary keys of all rows that contain a word, ignoring case.
        `is_indexed` must be True for the word.

        SQLite matches anywhere within a word, PostgreSQL only at the beginning.
        """
        return RawSQL(*self.lookup(word))  # noqa: S611 - the word is a parameter

    def has_word(self, word: str) -> Q:
        """Return a condition for rows that contain the word. PostgreSQL checks it row by row,
        because it would otherwise read all rows in the installation that contain a frequent word.
        """
        if connection.vendor != "postgresql":
            return Q(pk__in=self.rows_with(word))
        vector = f"SELECT words @@ to_tsquery('simple', %s) FROM {self.vectors}"
        of_row = f"({vector} WHERE {self.vectors}.id = {self.table}.id)"
        quoted = [f"'{word}':*"]
        return Q(RawSQL(of_row, quoted, BooleanField()))  # noqa: S611 - the word is a parameter

    def count_rows_with(self, word: str, most: int) -> int:
        """Return the number of rows that contain the word, or `most` if there are more."""
        statement, parameters = self.lookup(word)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM ({statement} LIMIT %s) AS found", [*parameters, most]
            )
            return int(cursor.fetchone()[0])

    def lookup(self, word: str) -> tuple[str, list[str]]:
        """Return an SQL statement that selects the keys of rows with the word, and the statement's
        parameters.
        """
        if connection.vendor == "postgresql":
            statement = f"SELECT id FROM {self.vectors} WHERE words @@ to_tsquery('simple', %s)"
            return statement, [f"'{word}':*"]
        quoted = '"' + word.replace('"', '""') + '"'
        return f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH %s", [quoted]


def is_indexed(word: str) -> bool:
    """Return True if an index can find the word. Otherwise, the texts themselves must be
    searched.
    """
    if len(word) < SHORTEST or connection.vendor not in ("sqlite", "postgresql"):
        return False
    return connection.vendor == "sqlite" or (word.isalnum() and not _unspaced.search(word))
