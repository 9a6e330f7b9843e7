"""An approximate index over the vectors of very large corpora, by PostgreSQL's extension `vector`.

There is one for each length of vectors, over half floats; only chunks of large corpora have copies of
their vectors, so no others are in it. Its expression occurs in no query but the one below: searches
that have to be exact, such as those in memories, can never be planned by it.

It finds the nearest of all corpora, and leaves out those of others. From version 0.8 on the extension
then goes on (`hnsw.iterative_scan`), but not without end: a page that is short is searched exactly.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from apps.workspace.local.pgvector import vector_text

logger = logging.getLogger(__name__)

EXACT_MOST = 100_000
"""Vectors that are compared one by one, in about 0.2 s of the database's CPU."""
MOST_DIMENSIONS = 4_000
"""Of an index over half floats."""
LEAST_VERSION = (0, 8)
LOCK = 0x51617070
"""Of PostgreSQL, together with the length of vectors: one process makes an index."""
MOST_MEMORY_MB = 1024
"""Of the database, while an index is made. With less than all of it needs, it takes many times as long."""
BYTES_OF_A_ROW = 512
"""Beside its vector: the links to others, measured generously."""

SETTINGS = """
SET LOCAL jit = off;
SET LOCAL hnsw.ef_search = 200;
SET LOCAL hnsw.iterative_scan = strict_order
"""
NEAREST = """
SELECT document_id, position, -(embedding <#> %(vector)s::vector) FROM (
    SELECT document_id, position, embedding FROM workspace_corpuschunk
    WHERE dimension = {dimension} AND model = %(model)s AND document_id = ANY(%(documents)s::bigint[])
        AND embedding IS NOT NULL
    ORDER BY (embedding::halfvec({dimension})) <#> %(vector)s::halfvec({dimension})
    LIMIT %(most)s
) AS found
"""
# One process makes it: parallel ones need shared memory, of which containers have little.
INDEX = """
CREATE INDEX CONCURRENTLY {name} ON workspace_corpuschunk
USING hnsw ((embedding::halfvec({dimension})) halfvec_ip_ops) WHERE dimension = {dimension}
"""

LIMITS = ["lock_timeout", "statement_timeout"]
Found = list[tuple[int, int, float]]
"""Document, position of the chunk, and cosine."""


def index_name(dimension: int) -> str:
    return f"corpus_vectors_{int(dimension)}"


def has_index(dimension: int) -> bool:
    """Whether it is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
            [index_name(dimension)],
        )
        return bool(cursor.fetchone() == (True,))


def nearest(documents: Sequence[int], model: str, vector: bytes, most: int) -> Found:
    """The nearest chunks of the documents; fewer than `most` if the index gave up looking for more."""
    query = NEAREST.format(dimension=len(vector) // 4)
    given: dict[str, Any] = {
        "vector": vector_text(vector),
        "model": model,
        "documents": list(documents),
        "most": most,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        cursor.execute(query, given)
        return list(cursor.fetchall())


def make_index(dimension: int, rows: int) -> None:
    """Make it for about so many vectors, if it is not there and no other process makes it.

    It takes minutes, in which rows are read and written as ever. Not within a transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, dimension])
        if cursor.fetchone() != (True,):
            return
        limits = without_limits(cursor)
        try:
            if not has_index(dimension):
                # What an attempt that was cut off has left.
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(dimension)}")
                cursor.execute("SET max_parallel_maintenance_workers = 0")
                cursor.execute(f"SET maintenance_work_mem = '{memory_mb(dimension, rows)}MB'")
                cursor.execute(INDEX.format(name=index_name(dimension), dimension=int(dimension)))
                logger.info("Vectors of %s dimensions have an index now", dimension)
        finally:
            cursor.execute("RESET max_parallel_maintenance_workers; RESET maintenance_work_mem")
            set_limits(cursor, limits)
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, dimension])


def without_limits(cursor: Any) -> Mapping[str, str]:
    """Let statements take as long as they need; return the limits that they had."""
    cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [LIMITS])
    found = {name: f"{setting}ms" for name, setting in cursor.fetchall()}
    set_limits(cursor, dict.fromkeys(LIMITS, "0"))
    return found


def set_limits(cursor: Any, limits: Mapping[str, str]) -> None:
    for name, value in limits.items():
        cursor.execute("SELECT set_config(%s, %s, false)", [name, value])


def memory_mb(dimension: int, rows: int) -> int:
    wanted = 64 + rows * (2 * dimension + BYTES_OF_A_ROW) // 2**20
    return min(wanted, MOST_MEMORY_MB)


def is_possible(dimension: int) -> bool:
    """Whether the extension, which is there, can make one for vectors of that length."""
    if not 0 < dimension <= MOST_DIMENSIONS:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        (version,) = cursor.fetchone() or ("0",)
    parts = [int(part) for part in version.split(".")[:2] if part.isdecimal()]
    return tuple(parts) >= LEAST_VERSION
