"""Corpora that the database searches: which ones these are, and what moves them over.

A corpus is searched in each process until it has more than `LARGE_FROM` chunks. Then, if PostgreSQL
has its extension `vector`, its terms and vectors are copied to where the database searches them, and
`Corpus.is_large` says so; from then on copies are written with what they are copies of. One that has
become small again goes back.
"""

from django.db.models import Count, F, QuerySet, Sum

from apps.workspace.local import corpus_hnsw, pgvector
from apps.workspace.local.corpus import ChunkTerms, Corpus, CorpusChunk, CorpusDocument
from apps.workspace.local.corpus_claims import Claim
from apps.workspace.local.corpus_terms import store_terms
from apps.workspace.local.corpus_texts import chunk_of

LARGE_FROM = 4_000
"""Chunks, whose words take 50 MB of each process."""
SMALL_FROM = 3_000
"""Not the same, so that one file more or less does not move a corpus to and fro."""


def large_corpus(application: str) -> int | None:
    """The number of the corpus of an application; None if it is searched in processes."""
    rows = Corpus.objects.filter(application=application, is_large=True)
    number: int | None = rows.values_list("pk", flat=True).first()
    return number if pgvector.is_prepared(CorpusChunk) else None


def is_moving(claim: Claim) -> bool:
    """Whether copies are missing in a corpus that is too large for processes, or should be."""
    if not pgvector.is_prepared(CorpusChunk) or is_large(claim):
        return False
    return count_of(claim, "chunk_count") > LARGE_FROM


def next_uncopied(claim: Claim, after: int) -> CorpusDocument | None:
    """The next document, by its number, that is read and whose chunks have no terms yet."""
    documents = read_documents(claim).filter(pk__gt=after, chunk_count__gt=0).defer("text")
    counted = documents.annotate(copied=Count("terms"))
    return counted.exclude(copied=F("chunk_count")).order_by("pk").first()


def copy(claim: Claim, document: CorpusDocument) -> None:
    """Raises `LeaseLost`."""
    rows = CorpusChunk.objects.filter(document=document).order_by("position").defer("vector")
    chunks = [chunk_of(row) for row in rows]
    with claim.held():
        store_terms(claim.corpus, document, chunks)
    pgvector.fill(CorpusChunk.objects.filter(document=document, dimension__gt=0))


def finish_moving(claim: Claim) -> None:
    """Have the database search from now on. Raises `LeaseLost`."""
    with claim.held():
        claim.rows().update(is_large=True)


def repair(claim: Claim) -> None:
    """Copy vectors that a process has written that knows of no copies."""
    if pgvector.is_prepared(CorpusChunk) and is_large(claim):
        pgvector.fill(CorpusChunk.objects.filter(document__corpus=claim.corpus, dimension__gt=0))


def shrink(claim: Claim) -> None:
    """Let processes search what has become small again. Raises `LeaseLost`."""
    if not is_large(claim) or count_of(claim, "chunk_count") > SMALL_FROM:
        return
    with claim.held():
        claim.rows().update(is_large=False)
        ChunkTerms.objects.filter(document__corpus=claim.corpus).delete()
        if pgvector.is_prepared(CorpusChunk):
            pgvector.clear(CorpusChunk.objects.filter(document__corpus=claim.corpus))


def wanted_index(claim: Claim) -> tuple[int, int] | None:
    """The length of the vectors that are too many to be compared one by one, and their number."""
    if not pgvector.is_prepared(CorpusChunk) or not is_large(claim):
        return None
    count = count_of(claim, "vector_count")
    if count <= corpus_hnsw.EXACT_MOST:
        return None
    chunks = CorpusChunk.objects.filter(document__corpus=claim.corpus, model=F("document__model"))
    dimension: int = chunks.values_list("dimension", flat=True).first() or 0
    is_missing = corpus_hnsw.is_possible(dimension) and not corpus_hnsw.has_index(dimension)
    return (dimension, count) if is_missing else None


def is_large(claim: Claim) -> bool:
    return claim.rows().filter(is_large=True).exists()


def count_of(claim: Claim, column: str) -> int:
    found: int = read_documents(claim).aggregate(sum=Sum(column))["sum"] or 0
    return found


def read_documents(claim: Claim) -> QuerySet[CorpusDocument]:
    return CorpusDocument.objects.filter(corpus=claim.corpus, is_read=True)
