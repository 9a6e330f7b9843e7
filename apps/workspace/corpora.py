"""Defines the interface for searching the files that an operator attached to an application. The
text of these files is extracted and stored in advance.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from apps.documents.chunks import TextChunk
from apps.documents.structure import PagedText
from apps.workspace.embeddings.port import Vectors


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """A file that is attached to an application. `number` and `version` identify one version of the
    file at `address`.

    - `is_searchable`: the text is stored, and the file has not changed since.
    - `state`: waiting, reading, embedding, ready or failed. `problem`: the reason for a failure.
    - `vectors`: how many of its `chunks` have a vector from the embedding model `model`.
    """

    number: int
    address: str
    media_type: str
    version: str
    is_searchable: bool
    state: str
    problem: str
    chunks: int
    vectors: int
    model: str


@dataclass(frozen=True, slots=True)
class AttachedText:
    text: PagedText
    chunks: Sequence[TextChunk] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageNames:
    """The word for the pages of a document, such as "slide", and the titles of the pages. The word
    is "" for a document without pages.
    """

    noun: str
    titles: Mapping[int, str]


ChunkPlace = tuple[int, int]
"""Identifies a chunk by the number of its document and by its position in this document."""


class CorpusReader(Protocol):
    """Searches the attached files of an application that the caller may read."""

    async def is_large(self) -> bool:
        """Return True if the database searches the application's files, because they are too large
        to be loaded.
        """
        ...

    async def documents(self) -> Sequence[AttachedDocument]: ...

    async def text(self, document: AttachedDocument) -> AttachedText | None:
        """Return the text of the document, or None if the document has changed in the meantime."""
        ...

    async def nearest(
        self,
        documents: Sequence[int],
        model: str,
        vector: Vectors,
        most: int,
        least: float,
    ) -> Mapping[ChunkPlace, float]:
        """Return the chunks that are most similar to the vector, with their cosine similarity: up
        to `most` chunks whose similarity is at least `least`.
        """
        ...

    async def with_words(
        self, documents: Sequence[int], request: str, most: int
    ) -> Mapping[ChunkPlace, float]:
        """Return up to `most` chunks that best match the words of a request, with their scores. May
        be called only for a large corpus.
        """
        ...

    async def chunks(self, places: Collection[ChunkPlace]) -> Mapping[ChunkPlace, TextChunk]:
        """Return the chunks at these positions. Chunks that no longer exist are omitted."""
        ...

    async def page_names(self, pages: Mapping[int, Collection[int]]) -> Mapping[int, PageNames]:
        """Map the number of each document to its page names. `pages` maps the number of a document
        to the pages whose titles are needed.
        """
        ...
