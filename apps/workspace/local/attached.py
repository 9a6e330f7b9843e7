"""The attached files of an application of ours, for one caller."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from channels.db import database_sync_to_async
from django.db.models import OuterRef, QuerySet, Subquery

from apps.workspace.corpora import AttachedDocument, AttachedText
from apps.workspace.local.corpus import CorpusDocument
from apps.workspace.local.corpus_texts import read_text
from apps.workspace.local.file_store import buckets_of
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

    async def nearest(
        self,
        documents: Sequence[int],
        model: str,
        vector: "NDArray[np.float32]",
        most: int,
        least: float,
    ) -> Mapping[tuple[int, int], float]:
        # Imported with the first use, because it needs NumPy.
        from apps.workspace.local.corpus_vectors import nearest

        found: Mapping[tuple[int, int], float] = await database_sync_to_async(nearest)(
            documents, model, vector, most, least
        )
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
