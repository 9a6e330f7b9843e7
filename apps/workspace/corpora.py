"""What an operator has attached to an application, as far as its text is stored to be searched."""

from collections.abc import Mapping, Sequence
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


class CorpusReader(Protocol):
    """The attached files of an application that its caller may read."""

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
    ) -> Mapping[tuple[int, int], float]:
        """(Number of a document, position of a chunk) → cosine with the vector, from `least` on."""
        ...
