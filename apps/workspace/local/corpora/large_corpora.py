"""Selects the corpora that the database searches instead of each process, and switches corpora
between the two kinds of search.

Each process searches a corpus itself until it has more than `LARGE_FROM` chunks. Then, if
PostgreSQL has the `vector` extension, terms and vectors are copied to columns that the database can
search, and `Corpus.is_large` is set. After that, copies are written together with the originals. A
corpus that shrinks is switched back.
"""

from django.db.models import Count, F, QuerySet, Sum

from apps.workspace.local import pgvector
from apps.workspace.local.corpora import hnsw
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import ChunkTerms, Corpus, CorpusChunk, CorpusDocument
from apps.workspace.local.corpora.document_texts import chunk_of
from apps.workspace.local.corpora.terms import store_terms

LARGE_FROM = 4_000
"""The number of chunks above which the database searches a corpus. The words of that many chunks
would take 50 MB of each process's memory.
"""
SMALL_FROM = 3_000
"""The number of chunks at or below which processes search a large corpus again. It is lower than
`LARGE_FROM`, so that adding and removing one file does not switch a corpus back and forth.
"""


def large_corpus(application: str) -> int | None:
    """Return the primary key of an application's corpus if the database searches it, or None if
    each process searches it itself.
    """
    rows = Corpus.objects.filter(application=application, is_large=True)
    number: int | None = rows.values_list("pk", flat=True).first()
    return number if pgvector.is_prepared(CorpusChunk) else None


def is_moving(claim: CorpusClaim) -> bool:
    """Return True if the corpus is too large to be searched in processes, but not all of its terms
    and vectors have been copied yet.
    """
    if not pgvector.is_prepared(CorpusChunk) or is_large(claim):
        return False
    return count_of(claim, "chunk_count") > LARGE_FROM


def next_uncopied(claim: CorpusClaim, after: int) -> CorpusDocument | None:
    """Return the document with the lowest primary key above `after` whose text is stored but whose
    chunks have no terms yet. Return None if there is none.
    """
    documents = read_documents(claim).filter(pk__gt=after, chunk_count__gt=0).defer("text")
    counted = documents.annotate(copied=Count("terms"))
    return counted.exclude(copied=F("chunk_count")).order_by("pk").first()


def copy(claim: CorpusClaim, document: CorpusDocument) -> None:
    """Copy the terms and vectors of a document for searches in the database. Raises `LeaseLost` if
    another job has taken over the corpus.
    """
    rows = CorpusChunk.objects.filter(document=document).order_by("position").defer("vector")
    chunks = [chunk_of(row) for row in rows]
    with claim.held():
        store_terms(claim.corpus, document, chunks)
    pgvector.fill_column(CorpusChunk.objects.filter(document=document, dimension__gt=0))


def finish_moving(claim: CorpusClaim) -> None:
    """Switch the corpus to database search. Raises `LeaseLost` if another job has taken over the
    corpus.
    """
    with claim.held():
        claim.rows().update(is_large=True)


def repair(claim: CorpusClaim) -> None:
    """Copy the vectors that a process running an older version stored without copies."""
    if pgvector.is_prepared(CorpusChunk) and is_large(claim):
        pgvector.fill_column(
            CorpusChunk.objects.filter(document__corpus=claim.corpus, dimension__gt=0)
        )


def shrink(claim: CorpusClaim) -> None:
    """Switch a corpus that has become smaller back to searches in processes. Raises `LeaseLost` if
    another job has taken over the corpus.
    """
    if not is_large(claim) or count_of(claim, "chunk_count") > SMALL_FROM:
        return
    with claim.held():
        claim.rows().update(is_large=False)
        ChunkTerms.objects.filter(document__corpus=claim.corpus).delete()
        if pgvector.is_prepared(CorpusChunk):
            pgvector.clear(CorpusChunk.objects.filter(document__corpus=claim.corpus))


def missing_index(claim: CorpusClaim) -> tuple[int, int] | None:
    """Return the dimension and the number of the corpus's vectors if there are too many for an
    exact search and they have no index yet, otherwise None.
    """
    if not pgvector.is_prepared(CorpusChunk) or not is_large(claim):
        return None
    count = count_of(claim, "vector_count")
    if count <= hnsw.EXACT_MOST:
        return None
    chunks = CorpusChunk.objects.filter(document__corpus=claim.corpus, model=F("document__model"))
    dimension: int = chunks.values_list("dimension", flat=True).first() or 0
    is_missing = hnsw.is_possible(dimension) and not hnsw.has_index(dimension)
    return (dimension, count) if is_missing else None


def is_large(claim: CorpusClaim) -> bool:
    return claim.rows().filter(is_large=True).exists()


def count_of(claim: CorpusClaim, column: str) -> int:
    found: int = read_documents(claim).aggregate(sum=Sum(column))["sum"] or 0
    return found


def read_documents(claim: CorpusClaim) -> QuerySet[CorpusDocument]:
    return CorpusDocument.objects.filter(corpus=claim.corpus, is_read=True)
