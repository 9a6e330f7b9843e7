"""Compares vectors in PostgreSQL if its `vector` extension (pgvector) is installed.

Tables store vectors as bytes in the column `vector`, which remains authoritative. A second column,
`embedding`, contains copies for comparisons. The Django models do not declare it, so that they also
work without the extension. `migrate` adds the column and fills it for memories. Processes use it
after a restart.

The search is exact. The planner would use an approximate index on the column even though most of
its results belong to other owners. In a test with 100,000 rows of 100 owners, 60 queries returned
fewer than five rows each, and found 9% of the nearest rows. The column must therefore not have an
index. The index for very large corpora (`apps.workspace.local.corpora.hnsw`) has an expression that
no query in this module contains.
"""

import math
from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db import connection, connections, transaction
from django.db.models import BooleanField, F, FloatField, Func, Model, QuerySet, Value

Bytes = bytes | memoryview
"""The bytes of a vector of 32-bit floats."""

MOST_DIMENSIONS = 16_000
"""The maximum number of dimensions of pgvector's `vector` type. NumPy compares longer vectors."""
BATCH = 500
"""The maximum number of rows per statement. Each statement that fills missing copies is one
transaction.
"""

# Storage: vectors of up to about 2,000 dimensions stay in their rows, and the bytes are stored out
# of line, so that a search reads only the pages of the rows. Trigger: it clears the copy if a
# process that does not know the column changes only the bytes. Its condition contains the column,
# so it is dropped with the column, and therefore also with the extension.
PREPARATION = """
ALTER TABLE {table} ADD COLUMN embedding vector;
ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE MAIN;
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.embedding := NULL; RETURN NEW; END $$;
CREATE OR REPLACE TRIGGER outdated_embedding BEFORE UPDATE OF vector ON {table} FOR EACH ROW
    WHEN (OLD.vector IS DISTINCT FROM NEW.vector AND NEW.embedding IS NOT NULL) EXECUTE FUNCTION {function}();
"""


def prepare_column(model: type[Model], using: str) -> bool:
    """Add the `embedding` column to the model's table if pgvector is installed. Return True if the
    table has the column.
    """
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
    """Return True if the model's table has the `embedding` column. The result is cached for the
    lifetime of the process.
    """
    if connection.vendor != "postgresql":
        return False
    at = connection.settings_dict
    return was_prepared(model._meta.db_table, at["HOST"], str(at["PORT"]), at["NAME"])


@lru_cache(maxsize=100)
def was_prepared(table: str, host: str, port: str, name: str) -> bool:
    """Return True if the table had the `embedding` column at the first call, whose result is
    cached. The other arguments identify the database.
    """
    return has_column(connection.alias, table)


def fill_column(rows: QuerySet[Any]) -> None:
    """Fill the `embedding` column of rows whose vectors have not been copied to it yet. Rows that
    other processes are writing are skipped.
    """
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
    """Copy vectors to the `embedding` column, in the caller's transaction. `vectors` contains pairs
    of a primary key and a vector.
    """
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
    """Delete the copies of the rows' vectors from the `embedding` column, in the caller's
    transaction.
    """
    table = connection.ops.quote_name(rows.model._meta.db_table)
    statement, parameters = rows.order_by().values("pk").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET embedding = NULL WHERE embedding IS NOT NULL AND id IN ({statement})",  # noqa: S608 - a quoted name
            parameters,
        )


def nearest(rows: QuerySet[Any], vector: bytes, most: int) -> list[tuple[Any, float]] | None:
    """Return the rows whose vectors have the greatest dot products with the vector, together with
    these products, greatest first.

    Return None if some rows cannot be compared, because they have no copy or a copy with another
    dimension.
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
    """Return the vector in the extension's text format, or "" if the extension cannot store it."""
    numbers = array("f", bytes(vector))
    if not 0 < len(numbers) <= MOST_DIMENSIONS or not all(map(math.isfinite, numbers)):
        return ""
    return f"[{','.join([f'{number:.9g}' for number in numbers])}]"
