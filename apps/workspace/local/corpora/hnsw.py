"""Indexes the vectors of very large corpora for approximate searches, with PostgreSQL's `vector`
extension.

There is one index of half-precision floats for each vector dimension. It contains only vectors of
large corpora, because only their chunks have copies of their vectors. No other query uses the
index's expression. The planner therefore never uses the index for searches that must be exact, such
as memory searches.

A search finds the nearest vectors in all corpora, and drops the vectors of other corpora. Since
version 0.8, the extension then continues the scan (`hnsw.iterative_scan`), but only up to a limit.
If too few results are left, the corpus is searched exactly.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from apps.workspace.local.pgvector import vector_text

logger = logging.getLogger(__name__)

EXACT_MOST = 100_000
"""Up to this many vectors are searched exactly. Such a search takes about 0.2 s of database CPU
time.
"""
MOST_DIMENSIONS = 4_000
"""pgvector can index half-precision vectors with up to this many dimensions."""
LEAST_VERSION = (0, 8)
LOCK = 0x51617070
"""The first key of the advisory lock for building an index. The second key is the vectors'
dimension.
"""
MOST_MEMORY_MB = 1024
"""The maximum amount of database memory that an index build uses, in MB. With too little memory, a
build is many times slower.
"""
BYTES_OF_A_ROW = 512
"""A generous estimate of the size in bytes of an index entry's links to other entries. The size of
its vector is added.
"""

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
# One process builds the index: parallel workers need shared memory, and containers have little of
# it.
INDEX = """
CREATE INDEX CONCURRENTLY {name} ON workspace_corpuschunk
USING hnsw ((embedding::halfvec({dimension})) halfvec_ip_ops) WHERE dimension = {dimension}
"""

LIMITS = ["lock_timeout", "statement_timeout"]
Found = list[tuple[int, int, float]]
"""Chunks that a search found, each as the document's primary key, the chunk's position in the
document, and the cosine similarity.
"""


def index_name(dimension: int) -> str:
    return f"corpus_vectors_{int(dimension)}"


def has_index(dimension: int) -> bool:
    """Return True if there is a complete index for vectors with this dimension."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
            [index_name(dimension)],
        )
        return bool(cursor.fetchone() == (True,))


def nearest(documents: Sequence[int], model: str, vector: bytes, most: int) -> Found:
    """Return up to `most` chunks of the documents that are nearest to the vector, or fewer if the
    index stopped early.
    """
    query = NEAREST.format(dimension=len(vector) // 4)
    parameters: dict[str, Any] = {
        "vector": vector_text(vector),
        "model": model,
        "documents": list(documents),
        "most": most,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        cursor.execute(query, parameters)
        return list(cursor.fetchall())


def make_index(dimension: int, rows: int) -> None:
    """Create the index for about `rows` vectors, unless it exists or another process is creating
    it.

    This takes minutes, during which rows can be read and written as usual. Must not be called in a
    transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, dimension])
        if cursor.fetchone() != (True,):
            return
        limits = without_limits(cursor)
        try:
            if not has_index(dimension):
                # Remove the incomplete index of an interrupted attempt.
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(dimension)}")
                cursor.execute("SET max_parallel_maintenance_workers = 0")
                cursor.execute(f"SET maintenance_work_mem = '{memory_mb(dimension, rows)}MB'")
                cursor.execute(INDEX.format(name=index_name(dimension), dimension=int(dimension)))
                logger.info("Created an index for vectors with %s dimensions", dimension)
        finally:
            cursor.execute("RESET max_parallel_maintenance_workers; RESET maintenance_work_mem")
            set_limits(cursor, limits)
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, dimension])


def without_limits(cursor: Any) -> Mapping[str, str]:
    """Disable the lock and statement timeouts, and return the previous limits."""
    cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [LIMITS])
    found = {name: f"{setting}ms" for name, setting in cursor.fetchall()}
    set_limits(cursor, dict.fromkeys(LIMITS, "0"))
    return found


def set_limits(cursor: Any, limits: Mapping[str, str]) -> None:
    for name, value in limits.items():
        cursor.execute("SELECT set_config(%s, %s, false)", [name, value])


def memory_mb(dimension: int, rows: int) -> int:
    needed = 64 + rows * (2 * dimension + BYTES_OF_A_ROW) // 2**20
    return min(needed, MOST_MEMORY_MB)


def is_possible(dimension: int) -> bool:
    """Return True if the installed extension can build an index for vectors with this dimension."""
    if not 0 < dimension <= MOST_DIMENSIONS:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        (version,) = cursor.fetchone() or ("0",)
    parts = [int(part) for part in version.split(".")[:2] if part.isdecimal()]
    return tuple(parts) >= LEAST_VERSION
