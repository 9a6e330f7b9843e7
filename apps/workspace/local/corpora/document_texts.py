"""Stores the text of attached documents in rows, and reads it for searches."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import Q

from apps.agent.surrogates import well_formed
from apps.documents.chunks import TextChunk
from apps.documents.structure import Page, PagedText
from apps.workspace.corpora import AttachedText, ChunkPosition, PageNames
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import CorpusChunk, CorpusDocument, State
from apps.workspace.local.corpora.terms import store_terms


def storable_pages(text: PagedText) -> PagedText:
    """Return the pages without characters that PostgreSQL cannot store: NUL and unpaired
    surrogates.
    """
    pages = (Page(clean(one.text), one.number, clean(one.title)) for one in text.pages)
    return PagedText(tuple(pages), text.noun, text.notice)


def clean(text: str) -> str:
    return well_formed(text).replace("\0", " ")


def store_text(
    claim: CorpusClaim,
    document: CorpusDocument,
    version: str,
    text: PagedText,
    chunks: Sequence[TextChunk],
) -> None:
    """Store the text and the chunks of a document, unless it has been deleted. Raises `LeaseLost`
    if another job has taken over the corpus.
    """
    with claim.held():
        stored = CorpusDocument.objects.filter(pk=document.pk).update(
            version=version,
            state=State.EMBEDDING if chunks else State.READY,
            problem="",
            attempts=0,
            due_at=None,
            refused_chunks=0,
            text=write_text(text),
            is_read=True,
            chunk_count=len(chunks),
            vector_count=0,
            model="",
        )
        if not stored:
            return
        document.chunks.all().delete()
        if claim.rows().filter(is_large=True).exists():
            store_terms(claim.corpus, document, chunks)
        CorpusChunk.objects.bulk_create(
            (
                CorpusChunk(
                    document=document,
                    position=position,
                    text=chunk.text,
                    page=chunk.page,
                    start=chunk.start,
                    end=chunk.end,
                    headings=list(chunk.headings),
                )
                for position, chunk in enumerate(chunks)
            ),
            batch_size=500,
        )


def write_text(text: PagedText) -> dict[str, Any]:
    pages = [[page.number, page.title, page.text] for page in text.pages]
    return {"noun": text.noun, "notice": text.notice, "pages": pages}


def read_attached_text(number: int, version: str) -> AttachedText | None:
    """Return the stored text of a document, or None if the document has changed in the meantime."""
    rows = CorpusDocument.objects.filter(pk=number, version=version, is_read=True)
    stored = rows.values_list("text", flat=True).first()
    if stored is None:
        return None
    pages = tuple(Page(text, number, title) for number, title, text in stored["pages"])
    chunks = CorpusChunk.objects.filter(document=number).order_by("position").defer("vector")
    return AttachedText(
        PagedText(pages, stored["noun"], stored["notice"]),
        [chunk_of(row) for row in chunks],
    )


def chunk_of(row: CorpusChunk) -> TextChunk:
    return TextChunk(row.text, row.page, row.start, row.end, tuple(row.headings))


def read_chunks(positions: Collection[ChunkPosition]) -> dict[ChunkPosition, TextChunk]:
    """Return the chunks at these positions. Chunks that no longer exist are omitted."""
    condition = Q(pk__in=())
    for document, position in positions:
        condition |= Q(document=document, position=position)
    rows = CorpusChunk.objects.filter(condition).defer("vector")
    return {(row.document_id, row.position): chunk_of(row) for row in rows}


def read_page_names(pages: Mapping[int, Collection[int]]) -> dict[int, PageNames]:
    """Map the primary keys of documents to their page names. Only one document at a time is in
    memory.
    """
    found: dict[int, PageNames] = {}
    for number, page_numbers in pages.items():
        rows = CorpusDocument.objects.filter(pk=number, is_read=True)
        stored = rows.values_list("text", flat=True).first()
        if stored is not None:
            titles = {page: title for page, title, _ in stored["pages"] if page in page_numbers}
            found[number] = PageNames(stored["noun"], titles)
    return found
