"""Reads and searches the attached files of this installation's applications, for one caller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.documents.chunks import TextChunk
from apps.workspace.corpora import AttachedDocument, AttachedText, ChunkPosition, PageNames
from apps.workspace.embeddings.port import Vectors
from apps.workspace.local.corpora.corpus import CorpusDocument
from apps.workspace.local.corpora.document_texts import (
    read_attached_text,
    read_chunks,
    read_page_names,
)
from apps.workspace.local.corpora.large_corpora import large_corpus
from apps.workspace.local.corpora.terms import scores
from apps.workspace.local.corpora.vector_store import nearest_by_database, nearest_chunks
from apps.workspace.local.files.readers import buckets_of, unrestricted_files
from apps.workspace.local.models import PUBLIC, StoredFile


@dataclass(frozen=True, slots=True)
class LocalCorpus:
    """The files that are attached to an application and that one caller can read."""

    application: str
    """The application's slug."""
    bucket: str
    """The caller's bucket, or "" if the caller has no files."""
    with_own: bool = True
    """True if the files that were uploaded for the application are included, as in its own runs."""

    async def documents(self) -> Sequence[AttachedDocument]:
        found: list[AttachedDocument] = await database_sync_to_async(self.read)()
        return found

    async def text(self, document: AttachedDocument) -> AttachedText | None:
        found: AttachedText | None = await database_sync_to_async(read_attached_text)(
            document.number, document.version
        )
        return found

    async def is_large(self) -> bool:
        return await database_sync_to_async(large_corpus)(self.application) is not None

    async def nearest(
        self,
        documents: Sequence[int],
        model: str,
        vector: Vectors,
        most: int,
        least: float,
    ) -> Mapping[ChunkPosition, float]:
        search = nearest_by_database if await self.is_large() else nearest_chunks
        found: Mapping[ChunkPosition, float] = await database_sync_to_async(search)(
            documents, model, vector, most, least
        )
        return found

    async def with_words(
        self, documents: Sequence[int], request: str, most: int
    ) -> Mapping[ChunkPosition, float]:
        number = await database_sync_to_async(large_corpus)(self.application)
        if number is None:
            return {}
        found: Mapping[ChunkPosition, float] = await database_sync_to_async(scores)(
            number, documents, request, most
        )
        return found

    async def chunks(
        self, positions: Collection[ChunkPosition]
    ) -> Mapping[ChunkPosition, TextChunk]:
        found: Mapping[ChunkPosition, TextChunk] = await database_sync_to_async(read_chunks)(
            positions
        )
        return found

    async def page_names(self, pages: Mapping[int, Collection[int]]) -> Mapping[int, PageNames]:
        found: Mapping[int, PageNames] = await database_sync_to_async(read_page_names)(pages)
        return found

    def rows(self) -> QuerySet[CorpusDocument]:
        buckets = buckets_of(self.bucket) if self.bucket else ()
        rows = CorpusDocument.objects.filter(corpus__application=self.application)
        found = rows.filter(Q(bucket=PUBLIC) | Q(bucket__in=buckets)).defer("text")
        return found if self.with_own else unrestricted_files(found, Q(bucket__in=buckets))

    def read(self) -> list[AttachedDocument]:
        # Checked again here, because a file may have been deleted or replaced since it was indexed.
        files = StoredFile.objects.filter(bucket=OuterRef("bucket"), name=OuterRef("name"))
        rows = self.rows().annotate(etag=Subquery(files.values("etag")[:1]))
        return [read_attached(row, row.etag) for row in rows]


def read_attached(row: CorpusDocument, etag: str | None) -> AttachedDocument:
    return AttachedDocument(
        row.pk,
        row.address,
        row.media_type,
        row.version,
        row.is_read and etag == row.version,
        row.state,
        row.problem,
        row.chunk_count,
        row.vector_count,
        row.model,
    )
