"""The interface to the files that an operator attached to an application, whose text is stored for
searches.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from apps.documents.chunks import TextChunk
from apps.documents.structure import PagedText
from apps.workspace.embeddings.port import Vectors


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """A file attached to an application. `number` and `version` identify one content at `address`.

    - `is_searchable`: the text is stored, and the file has not changed since.
    - `state`: waiting, reading, embedding, ready or failed. `problem`: the reason of a failure.
    - `vectors`: the number of its `chunks` that have a vector of `model`.
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
    """The word for a document's pages, such as "slide" ("" for a document without pages), and the
    titles of its pages.
    """

    noun: str
    titles: Mapping[int, str]


ChunkPlace = tuple[int, int]
"""The number of a document, and the position of a chunk in the document."""


class CorpusReader(Protocol):
    """Searches the attached files of an application that the caller may read."""

    async def is_large(self) -> bool:
        """Return True if the corpus is too large to be loaded as a whole, so the database searches
        it.
        """
        ...

    async def documents(self) -> Sequence[AttachedDocument]: ...

    async def text(self, document: AttachedDocument) -> AttachedText | None:
        """Return the text, or None if the document has changed in the meantime."""
        ...

    async def nearest(
        self,
        documents: Sequence[int],
        model: str,
        vector: Vectors,
        most: int,
        least: float,
    ) -> Mapping[ChunkPlace, float]:
        """Return the cosine similarity of chunks with the vector: the `most` highest values that
        are at least `least`.
        """
        ...

    async def with_words(
        self, documents: Sequence[int], request: str, most: int
    ) -> Mapping[ChunkPlace, float]:
        """Return the `most` chunks that best match the words of a request, with their scores. Call
        this only for a large corpus.
        """
        ...

    async def chunks(self, places: Collection[ChunkPlace]) -> Mapping[ChunkPlace, TextChunk]:
        """Return the chunks that exist."""
        ...

    async def page_names(self, pages: Mapping[int, Collection[int]]) -> Mapping[int, PageNames]:
        """Return the page names of documents, by the numbers of the documents."""
        ...
