"""What an operator has attached to an application, as far as its text is stored to be searched."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from apps.documents.chunks import Chunk
from apps.documents.structure import PagedText

if TYPE_CHECKING:  # as in the port of embeddings: few processes need NumPy
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """`number` and `version` name one content of one file, which is at `address`.

    - `is_searchable`: its text is stored, and the file has not changed since.
    - `state` is waiting, reading, embedding, ready or failed; `problem` says why it failed, "".
    - `vectors`: how many of its `chunks` have one of `model`.
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
    chunks: Sequence[Chunk] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageNames:
    """What the pages of a document are called, such as slide, "" for one without pages, and their titles."""

    noun: str
    titles: Mapping[int, str]


ChunkPlace = tuple[int, int]
"""The number of a document, and the position of a chunk in it."""


class CorpusReader(Protocol):
    """The attached files of an application that its caller may read."""

    async def is_large(self) -> bool:
        """Whether it is searched where it is stored, and too large to be read as a whole."""
        ...

    async def documents(self) -> Sequence[AttachedDocument]: ...

    async def text(self, document: AttachedDocument) -> AttachedText | None:
        """None if it has changed meanwhile."""
        ...

    async def nearest(
        self,
        documents: Sequence[int],
        model: str,
        vector: "NDArray[np.float32]",
        most: int,
        least: float,
    ) -> Mapping[ChunkPlace, float]:
        """The cosine of chunks with the vector: the `most` highest, from `least` on."""
        ...

    async def with_words(
        self, documents: Sequence[int], request: str, most: int
    ) -> Mapping[ChunkPlace, float]:
        """How well chunks fit the words of a request: the `most` best. Of a large corpus alone."""
        ...

    async def chunks(self, places: Collection[ChunkPlace]) -> Mapping[ChunkPlace, Chunk]:
        """Those of the chunks that there are."""
        ...

    async def page_names(self, pages: Mapping[int, Collection[int]]) -> Mapping[int, PageNames]:
        """By the numbers of documents, for those of their pages."""
        ...
