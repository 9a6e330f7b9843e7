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
    """A file that is attached to an application."""

    number: int
    address: str
    media_type: str
    version: str
    """`number` and `version` identify one version of the file at `address`."""
    is_searchable: bool
    """True if the text is stored and the file has not changed since."""
    state: str
    """The indexing state: `waiting`, `reading`, `embedding`, `ready` or `failed`."""
    problem: str
    """The reason for a failure, or ""."""
    chunks: int
    vectors: int
    """The number of `chunks` that have a vector from the embedding model `model`."""
    model: str


@dataclass(frozen=True, slots=True)
class AttachedText:
    text: PagedText
    chunks: Sequence[TextChunk] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageNames:
    """The names of a document's pages."""

    noun: str
    """The word for a page, such as "slide", or "" for a document without pages."""
    titles: Mapping[int, str]
    """The titles of pages by page number."""


ChunkPosition = tuple[int, int]
"""A chunk's identity: the number of its document, and its position in this document."""


class CorpusReader(Protocol):
    """Searches the files that are attached to an application, if the caller may read them."""

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
    ) -> Mapping[ChunkPosition, float]:
        """Return the chunks that are most similar to the vector, with their cosine similarity: up
        to `most` chunks whose similarity is at least `least`.
        """
        ...

    async def with_words(
        self, documents: Sequence[int], request: str, most: int
    ) -> Mapping[ChunkPosition, float]:
        """Return up to `most` chunks that best match the words in a request, with their scores. May
        be called only for a large corpus.
        """
        ...

    async def chunks(
        self, positions: Collection[ChunkPosition]
    ) -> Mapping[ChunkPosition, TextChunk]:
        """Return the chunks at these positions. Chunks that no longer exist are omitted."""
        ...

    async def page_names(self, pages: Mapping[int, Collection[int]]) -> Mapping[int, PageNames]:
        """Map the number of each document to its page names. `pages` maps the number of a document
        to the pages whose titles are needed.
        """
        ...
