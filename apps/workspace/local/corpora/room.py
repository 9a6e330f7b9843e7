"""Enforces the limit on chunks per application, and schedules files that this limit rejected
earlier.
"""

from django.conf import settings
from django.db.models import Sum

from apps.workspace.local.corpora.corpus import CorpusChunk, CorpusDocument, State
from apps.workspace.local.pgvector import is_prepared

MOST_IN_PROCESSES = 20_000
"""The approximate number of chunks that a process can search. They take 240 MB of its memory, and
60 ms per search.
"""


def chunks_left(corpus: int, replaced: int = 0) -> int:
    """Return how many more chunks the corpus may contain. The chunks of the document with the
    primary key `replaced` do not count, because they will be replaced.
    """
    documents = CorpusDocument.objects.filter(corpus=corpus).exclude(pk=replaced)
    used: int = documents.aggregate(sum=Sum("chunk_count"))["sum"] or 0
    return max(settings.CORPUS_CHUNKS - used, 0)


def full_message(count: int, left: int) -> str:
    advice = "The file is read when there is room: remove files, or raise CORPUS_CHUNKS"
    if not is_prepared(CorpusChunk):
        advice = (
            f"{advice}, up to {MOST_IN_PROCESSES:,} without PostgreSQL and its extension vector"
        )
    return (
        f"it has {count:,} passages, but only {left:,} of the limit of "
        f"{settings.CORPUS_CHUNKS:,} for all files of an application (CORPUS_CHUNKS) are left. "
        f"{advice}."
    )


def reopen_refused() -> None:
    """Schedule another attempt to read documents that the limit on chunks rejected, oldest first,
    if there is now room for them.
    """
    refused = CorpusDocument.objects.filter(state=State.FAILED, refused_chunks__gt=0)
    left: dict[int, int] = {}
    for pk, corpus, count in refused.order_by("pk").values_list("pk", "corpus", "refused_chunks"):
        if corpus not in left:
            left[corpus] = chunks_left(corpus)
        if count <= left[corpus]:
            left[corpus] -= count
            again = refused.filter(pk=pk)
            again.update(state=State.WAITING, problem="", attempts=0, refused_chunks=0)
