"""Searches the chunks of a large corpus by keyword, with a PostgreSQL index.

Terms and scores are computed as in `apps.documents.bm25`, with two differences. The frequency of a
term in a chunk does not count. The most frequent terms in a request are ignored if it has enough
other terms. A term is stored as a number that is computed from its letters and from the corpus, so
all corpora share the index. Collisions are rare and harmless.
"""

import math
from collections.abc import Mapping, Sequence
from zlib import crc32

from django.db import connection, transaction

from apps.documents.bm25 import K1, QUERY_TERMS, STEM_WEIGHT, B, terms
from apps.documents.chunks import TextChunk
from apps.workspace.local.corpora.corpus import ChunkTerms, CorpusDocument

MOST_HAVING = 5_000
"""A search ranks up to this many chunks. It selects the chunks with the rarest terms in the
request, because rare terms are the most significant.
"""

# JIT compilation, meant for queries that run for seconds, takes longer than this query.
PREPARATION = "SET LOCAL jit = off"
COUNTS = f"""
SELECT asked.term, found.count FROM unnest(%s::int[]) AS asked (term), LATERAL (
    SELECT count(*) FROM (
        SELECT FROM workspace_chunkterms
        WHERE terms @> ARRAY[asked.term] AND document_id = ANY(%s::bigint[]) LIMIT {MOST_HAVING + 1}
    ) AS counted
) AS found
"""  # noqa: S608 - a number of ours
RANKING = f"""
SELECT document_id, position, sum(
    weight * ({K1} + 1)::float / (1 + {K1}::float * (1 - {B} + {B}::float * length / average))
) AS score
FROM (
    SELECT found.*, asked.weight, avg(length::float) OVER () AS average
    FROM unnest(%s::int[], %s::float[]) AS asked (term, weight), LATERAL (
        SELECT document_id, position, length FROM workspace_chunkterms
        WHERE terms @> ARRAY[asked.term] AND document_id = ANY(%s::bigint[])
    ) AS found
) AS found
GROUP BY document_id, position ORDER BY score DESC, document_id, position LIMIT %s
"""  # noqa: S608 - numbers of ours
HAVING_ALL = """
SELECT document_id, position, 1.0 / length FROM workspace_chunkterms
WHERE terms @> %s::int[] AND document_id = ANY(%s::bigint[]) ORDER BY length, document_id, position LIMIT %s
"""

Scores = Mapping[tuple[int, int], float]
"""Maps each chunk to its score. A chunk is identified by its document's primary key and its
position.
"""


def term_number(corpus: int, term: str) -> int:
    """Return the number that represents a term in a corpus. It is shifted into PostgreSQL's signed
    32-bit range.
    """
    return crc32(f"{corpus} {term}".encode()) - 2**31


def store_terms(corpus: int, document: CorpusDocument, chunks: Sequence[TextChunk]) -> None:
    """Store the terms of all chunks in a document, in order, and delete its earlier terms."""
    ChunkTerms.objects.filter(document=document).delete()
    ChunkTerms.objects.bulk_create(
        (terms_of(corpus, document, *one) for one in enumerate(chunks)), batch_size=500
    )


def terms_of(corpus: int, document: CorpusDocument, position: int, chunk: TextChunk) -> ChunkTerms:
    found = list(terms(chunk.searched))
    numbers = sorted({term_number(corpus, term) for term in found})
    return ChunkTerms(document=document, position=position, length=len(found), terms=numbers)


def scores(corpus: int, documents: Sequence[int], request: str, most: int) -> Scores:
    """Return up to `most` chunks of the documents that best match the words in the request, with
    their scores.
    """
    query_terms = list(dict.fromkeys(terms(request)))[:QUERY_TERMS]
    numbers = {term_number(corpus, term): term for term in query_terms}
    ids = list(documents)
    chunks = CorpusDocument.objects.filter(pk__in=ids)
    count = sum(chunks.values_list("chunk_count", flat=True))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PREPARATION)
        cursor.execute(COUNTS, [list(numbers), ids])
        having = {number: found for number, found in cursor.fetchall() if found}
        if rare := rarest(having):
            weights = [weight(numbers[number], found, count) for number, found in rare.items()]
            cursor.execute(RANKING, [list(rare), weights, ids, most])
        elif having:
            cursor.execute(HAVING_ALL, [list(having), ids, most])
        else:
            return {}
        return {(document, position): score for document, position, score in cursor.fetchall()}


def rarest(having: Mapping[int, int]) -> dict[int, int]:
    """Return the terms that the fewest chunks contain, up to a total of `MOST_HAVING` chunks.
    `having` maps the number of a term to the number of chunks that contain it.
    """
    found, total = {}, 0
    for number, count in sorted(having.items(), key=lambda one: one[1]):
        total += count
        if total > MOST_HAVING:
            break
        found[number] = count
    return found


def weight(term: str, having: int, count: int) -> float:
    rarity = math.log(1 + (count - having + 0.5) / (having + 0.5))
    return rarity * (STEM_WEIGHT if term.endswith("*") else 1.0)
