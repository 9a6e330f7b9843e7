"""A document as it is searched: its chunks, their words, and their vectors as far as there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.documents.bm25 import WordIndex
from apps.documents.chunks import Chunk, chunks_of
from apps.documents.structure import PagedText
from apps.workspace.embeddings.port import Embeddings

if TYPE_CHECKING:  # as in the port of embeddings: few processes need NumPy
    import numpy as np
    from numpy.typing import NDArray

MOST_UNKNOWN = 0.5
"""Share of unknown tokens above which the vector of a text says nothing about it."""
BYTES_OF_A_CHARACTER = 4
"""Every text is kept twice, as a part of its page and of its chunk."""


@dataclass(slots=True, eq=False)
class DocumentIndex:
    """`address` is where people find the document, "" if nowhere.

    `number`: of an attached document, whose vectors are stored; here they are only counted. 0 for others.
    `is_dropped`: no cache keeps it any more, so nothing is to be prepared for later questions.
    """

    name: str
    media_type: str
    address: str
    text: PagedText
    number: int = 0
    chunks: Sequence[Chunk] = field(default=(), repr=False)
    words: WordIndex = field(init=False, repr=False)
    vectors: "ChunkVectors" = field(init=False, repr=False)
    is_dropped: bool = False

    def __post_init__(self) -> None:
        """Takes about a second for a million characters: not for the event loop."""
        self.chunks = self.chunks or chunks_of(self.text.pages)
        self.words = WordIndex([chunk.searched for chunk in self.chunks])
        self.vectors = ChunkVectors()

    @property
    def size(self) -> int:
        """Its memory in bytes, about."""
        characters = sum(len(page.text) for page in self.text.pages)
        return BYTES_OF_A_CHARACTER * characters + self.words.size + self.vectors.size

    @property
    def noun(self) -> str:
        return self.text.noun

    def title(self, page: int) -> str:
        return next((one.title for one in self.text.pages if one.number == page), "")


@dataclass(slots=True)
class ChunkVectors:
    """The vectors of the first `count` chunks, all by one model.

    `problem`: why there are not more, "" for no reason but time.
    """

    model: str = ""
    batches: list["NDArray[np.float32]"] = field(default_factory=list)
    count: int = 0
    problem: str = ""

    @property
    def size(self) -> int:
        return sum(batch.nbytes for batch in self.batches)

    @property
    def width(self) -> int:
        """The length of the vectors, 0 for none."""
        return int(self.batches[0].shape[1]) if self.batches else 0

    def begin(self, model: str, width: int = 0) -> None:
        """Drop vectors that cannot be compared: of another model, or not of the `width`, 0 for any."""
        if model != self.model or (width and self.width not in (0, width)):
            self.model, self.batches, self.count, self.problem = model, [], 0, ""

    def add(self, found: Embeddings) -> None:
        vectors = meaningful(found)
        self.problem = ""
        self.batches.append(vectors)
        self.count += len(vectors)

    def similarities(self, query: "NDArray[np.float32]") -> Mapping[int, float]:
        """Chunk → cosine, for the chunks that have a vector; {} if they have another length."""
        if self.width != len(query):
            return {}
        scores = (float(score) for batch in list(self.batches) for score in batch @ query)
        return dict(enumerate(scores))


def meaningful(found: Embeddings) -> "NDArray[np.float32]":
    """The vectors, with zeros for texts that the model does not know: they are like no others."""
    unknown = [n for n, share in enumerate(found.unknown_shares) if share > MOST_UNKNOWN]
    if not unknown:
        return found.vectors
    vectors = found.vectors.copy()
    vectors[unknown] = 0
    return vectors
