"""Vectors that PostgreSQL compares itself, where its extension `vector` (pgvector) was created.

A table that keeps vectors as bytes in a column `vector` gets another column there, `embedding`, of
which its model knows nothing: without the extension nothing is different. The bytes stay what
counts. `migrate` adds the column, and fills that of memories; processes use it from their next start on.

The search is exact. An approximate index on such a column would be chosen by the planner although
most of what it finds belongs to other owners: 100,000 rows of 100 owners gave fewer than five rows
to each of 60 queries, and 9 % of those that are nearest. So there must be none; that of very large
corpora (`apps.workspace.local.corpus_hnsw`) is over an expression that no query here has.
"""

import math
from array import array
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import connection, connections, transaction
from django.db.models import BooleanField, F, FloatField, Func, Model, QuerySet, Value

Bytes = bytes | memoryview
"""A vector as 32-bit floats."""

MOST_DIMENSIONS = 16_000
"""Of the extension's type. Longer vectors are compared by NumPy."""
BATCH = 500
"""Rows of one statement; missing copies are made in as many transactions."""

# Storage: vectors of up to about 2,000 dimensions stay in their rows, and it is the bytes that are
# stored apart, so a search reads no other pages than those of the rows.
# Trigger: a process that does not know of the column yet changes the bytes alone. Its condition names
# the column, so it goes when that goes, with the extension.
PREPARATION = """
ALTER TABLE {table} ADD COLUMN embedding vector;
ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE MAIN;
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.embedding := NULL; RETURN NEW; END $$;
CREATE OR REPLACE TRIGGER outdated_embedding BEFORE UPDATE OF vector ON {table} FOR EACH ROW
    WHEN (OLD.vector IS DISTINCT FROM NEW.vector AND NEW.embedding IS NOT NULL) EXECUTE FUNCTION {function}();
"""


def prepare(model: type[Model], using: str) -> bool:
    """Add the column where the extension is; whether it is there now."""
    database = connections[using]
    if database.vendor != "postgresql":
        return False
    table = model._meta.db_table
    with transaction.atomic(using), database.cursor() as cursor:
        cursor.execute("SELECT to_regtype('vector') IS NOT NULL AND to_regclass(%s) > 0", [table])
        if cursor.fetchone() != (True,):
            return False
        if not has_column(using, table):
            quoted = database.ops.quote_name
            function = quoted(f"{table}_outdated")
            cursor.execute(PREPARATION.format(table=quoted(table), function=function))
    return True


def has_column(using: str, table: str) -> bool:
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(%s)"
            " AND attname = 'embedding' AND NOT attisdropped",
            [table],
        )
        return bool(cursor.fetchone() == (1,))


def is_prepared(model: type[Model]) -> bool:
    """Whether the database has the column."""
    if connection.vendor != "postgresql":
        return False
    at = connection.settings_dict
    return was_prepared(model._meta.db_table, at["HOST"], str(at["PORT"]), at["NAME"])


@cache
def was_prepared(table: str, host: str, port: str, name: str) -> bool:
    """Asked once in a process for each database."""
    return has_column(connection.alias, table)


def fill(rows: QuerySet[Any]) -> None:
    """Copy the vectors of rows that have no copy. Rows that others are writing are left to them."""
    is_missing = Func(template="embedding IS NULL", output_field=BooleanField())
    missing, last, is_more = rows.filter(is_missing).order_by("pk"), 0, True
    while is_more:
        with transaction.atomic(using=rows.db):
            locked = missing.filter(pk__gt=last).select_for_update(skip_locked=True, of=("self",))
            batch = list(locked.values_list("pk", "vector")[:BATCH])
            write(rows.model, batch, rows.db)
        is_more = len(batch) == BATCH
        last = batch[-1][0] if batch else 0


def write(model: type[Model], vectors: Iterable[tuple[int, Bytes]], using: str) -> None:
    """Copy the vectors of rows, given by their primary keys, in the transaction of the caller."""
    texts = [(pk, text) for pk, vector in vectors if (text := vector_text(vector))]
    table = connections[using].ops.quote_name(model._meta.db_table)
    with connections[using].cursor() as cursor:
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            cursor.execute(
                f"UPDATE {table} AS row SET embedding = new.text::vector"  # noqa: S608 - a quoted name
                " FROM unnest(%s::bigint[], %s::text[]) AS new (pk, text) WHERE row.id = new.pk",
                [[pk for pk, _ in batch], [text for _, text in batch]],
            )


def clear(rows: QuerySet[Any]) -> None:
    """Drop the copies, in the transaction of the caller."""
    table = connection.ops.quote_name(rows.model._meta.db_table)
    statement, given = rows.order_by().values("pk").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET embedding = NULL WHERE embedding IS NOT NULL AND id IN ({statement})",  # noqa: S608 - a quoted name
            given,
        )


def nearest(rows: QuerySet[Any], vector: bytes, most: int) -> list[tuple[Any, float]] | None:
    """The rows with the greatest products with the vector, the greatest first.

    None if some rows cannot be compared: they have no copy, or one of another length.
    """
    count = len(vector) // 4
    text = vector_text(vector)
    if not text:
        return None
    table = connection.ops.quote_name(rows.model._meta.db_table)
    negative_product = Func(
        Value(text),
        template=f"CASE WHEN vector_dims({table}.embedding) = {count}"
        f" THEN {table}.embedding <#> %(expressions)s::vector END",
        output_field=FloatField(),
    )
    ranked = rows.annotate(negative_product=negative_product)
    found = list(ranked.order_by(F("negative_product").asc(nulls_first=True), "pk")[:most])
    if any(row.negative_product is None for row in found):
        return None
    return [(row, -row.negative_product) for row in found]


def vector_text(vector: Bytes) -> str:
    """As the extension reads it; "" for what it has no place for."""
    numbers = array("f", bytes(vector))
    if not 0 < len(numbers) <= MOST_DIMENSIONS or not all(map(math.isfinite, numbers)):
        return ""
    return f"[{','.join([f'{number:.9g}' for number in numbers])}]"


def prepare_tables(sender: object, using: str, **kwargs: Any) -> None:
    """Receives the signal that migrations are done. Vectors of small corpora get no copies."""
    from apps.workspace.local.corpus import CorpusChunk
    from apps.workspace.local.remembered import StoredMemory

    prepare(CorpusChunk, using)
    if prepare(StoredMemory, using):
        fill(StoredMemory._default_manager.using(using))
