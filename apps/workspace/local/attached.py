"""The attached files of an application of ours, for one caller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from channels.db import database_sync_to_async
from django.db.models import OuterRef, QuerySet, Subquery

from apps.documents.chunks import Chunk
from apps.workspace.corpora import AttachedDocument, AttachedText, ChunkPlace, PageNames
from apps.workspace.local.corpus import CorpusDocument
from apps.workspace.local.corpus_terms import scores
from apps.workspace.local.corpus_texts import read_chunks, read_page_names, read_text
from apps.workspace.local.file_store import buckets_of
from apps.workspace.local.large_corpora import large_corpus
from apps.workspace.local.models import PUBLIC, StoredFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def readable_buckets(bucket: str) -> list[str]:
    """The buckets whose files the owner of this one may read, as `LocalFiles` lets them."""
    return [PUBLIC, *(buckets_of(bucket) if bucket else ())]


@dataclass(frozen=True, slots=True)
class LocalCorpus:
    """`application` is a slug, `bucket` that of the caller, "" for a caller without files."""

    application: str
    bucket: str

    async def documents(self) -> Sequence[AttachedDocument]:
        found: list[AttachedDocument] = await database_sync_to_async(self.read)()
        return found

    async def text(self, document: AttachedDocument) -> AttachedText | None:
        found: AttachedText | None = await database_sync_to_async(read_text)(
            document.number, document.version
        )
        return found

    async def is_large(self) -> bool:
        return await database_sync_to_async(large_corpus)(self.application) is not None

    async def nearest(
        self,
        documents: Sequence[int],
        model: str,
        vector: "NDArray[np.float32]",
        most: int,
        least: float,
    ) -> Mapping[ChunkPlace, float]:
        # Imported with the first use, because it needs NumPy.
        from apps.workspace.local.corpus_vectors import nearest, nearest_by_database

        search = nearest_by_database if await self.is_large() else nearest
        found: Mapping[ChunkPlace, float] = await database_sync_to_async(search)(
            documents, model, vector, most, least
        )
        return found

    async def with_words(
        self, documents: Sequence[int], request: str, most: int
    ) -> Mapping[ChunkPlace, float]:
        number = await database_sync_to_async(large_corpus)(self.application)
        if number is None:
            return {}
        found: Mapping[ChunkPlace, float] = await database_sync_to_async(scores)(
            number, documents, request, most
        )
        return found

    async def chunks(self, places: Collection[ChunkPlace]) -> Mapping[ChunkPlace, Chunk]:
        found: Mapping[ChunkPlace, Chunk] = await database_sync_to_async(read_chunks)(places)
        return found

    async def page_names(self, pages: Mapping[int, Collection[int]]) -> Mapping[int, PageNames]:
        found: Mapping[int, PageNames] = await database_sync_to_async(read_page_names)(pages)
        return found

    def rows(self) -> QuerySet[CorpusDocument]:
        return CorpusDocument.objects.filter(
            corpus__application=self.application, bucket__in=readable_buckets(self.bucket)
        ).defer("text")

    def read(self) -> list[AttachedDocument]:
        # Asked now, because a file may be deleted or replaced before that is noticed.
        files = StoredFile.objects.filter(bucket=OuterRef("bucket"), name=OuterRef("name"))
        rows = self.rows().annotate(etag=Subquery(files.values("etag")[:1]))
        return [attached(row, row.etag) for row in rows]


def attached(row: CorpusDocument, etag: str | None) -> AttachedDocument:
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
