"""How many passages the files of an application may have together, and what waits for room."""

from django.conf import settings
from django.db.models import Sum

from apps.workspace.local.corpus import CorpusChunk, CorpusDocument, State
from apps.workspace.local.pgvector import is_prepared

MOST_IN_PROCESSES = 20_000
"""Passages that it is sensible to search in a process: 240 MB of its memory, and 60 ms of a search."""


def room_left(corpus: int, beside: int = 0) -> int:
    """Passages that there is room for; those of the document `beside` are about to be replaced."""
    documents = CorpusDocument.objects.filter(corpus=corpus).exclude(pk=beside)
    used: int = documents.aggregate(sum=Sum("chunk_count"))["sum"] or 0
    return max(settings.CORPUS_CHUNKS - used, 0)


def refusal(count: int, left: int) -> str:
    advice = "It is read when there is room: remove files, or raise CORPUS_CHUNKS"
    if not is_prepared(CorpusChunk):
        advice = f"{advice}, to {MOST_IN_PROCESSES:,} at most without PostgreSQL and its extension vector"
    return (
        f"it has {count:,} passages, and of the {settings.CORPUS_CHUNKS:,} that all files of an "
        f"application may have together (CORPUS_CHUNKS), {left:,} are left. {advice}."
    )


def reopen_refused() -> None:
    """Have documents read that there is room for now, the first ones first."""
    refused = CorpusDocument.objects.filter(state=State.FAILED, refused_chunks__gt=0)
    left: dict[int, int] = {}
    for pk, corpus, count in refused.order_by("pk").values_list("pk", "corpus", "refused_chunks"):
        if corpus not in left:
            left[corpus] = room_left(corpus)
        if count <= left[corpus]:
            left[corpus] -= count
            again = refused.filter(pk=pk)
            again.update(state=State.WAITING, problem="", attempts=0, refused_chunks=0)
