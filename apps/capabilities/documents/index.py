"""Defines a searchable document: its chunks, a keyword index and the vectors computed so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from apps.documents.bm25 import Bm25Index
from apps.documents.chunks import TextChunk, chunks_of
from apps.documents.structure import PagedText
from apps.workspace.embeddings.port import Embeddings, Vectors

MOST_UNKNOWN = 0.5
"""A text's vector is not used if more than this share of its tokens is unknown to the model."""
BYTES_OF_A_CHARACTER = 4
"""The assumed memory usage per character of text. Each text is stored twice: in its page and in its
chunk.
"""


@dataclass(slots=True, eq=False)
class DocumentIndex:
    """A document that can be searched."""

    name: str
    media_type: str
    address: str
    """The document's link, or ""."""
    text: PagedText
    number: int = 0
    """The ID of an attached document in the database, or 0. The database stores the vectors of
    attached documents, and `vectors` only counts them.
    """
    chunks: Sequence[TextChunk] = field(default=(), repr=False)
    words: Bm25Index = field(init=False, repr=False)
    vectors: "ChunkVectors" = field(init=False, repr=False)
    is_dropped: bool = False
    """True if no cache contains the document anymore, in which case it needs no vectors."""

    def __post_init__(self) -> None:
        """Split and index the text. This takes about a second per million characters, so never call
        it on the event loop.
        """
        self.chunks = self.chunks or chunks_of(self.text.pages)
        self.words = Bm25Index([chunk.searched for chunk in self.chunks])
        self.vectors = ChunkVectors()

    @property
    def size(self) -> int:
        """Return the approximate memory usage in bytes."""
        characters = sum(len(page.text) for page in self.text.pages)
        return BYTES_OF_A_CHARACTER * characters + self.words.size + self.vectors.size

    @property
    def noun(self) -> str:
        return self.text.noun

    def title(self, page: int) -> str:
        return next((one.title for one in self.text.pages if one.number == page), "")


@dataclass(slots=True)
class ChunkVectors:
    """The vectors of the first `count` chunks of a document, all from one model."""

    model: str = ""
    batches: list[Vectors] = field(default_factory=list)
    count: int = 0
    problem: str = ""
    """The reason why further vectors are missing, or "" while they are being computed."""

    @property
    def size(self) -> int:
        return sum(batch.nbytes for batch in self.batches)

    @property
    def width(self) -> int:
        """Return the dimension of the vectors, or 0 if there are none."""
        return int(self.batches[0].shape[1]) if self.batches else 0

    def begin(self, model: str, width: int = 0) -> None:
        """Prepare for vectors from a model, with the dimension `width` (0 for any). Drop stored
        vectors that are incompatible.
        """
        if model != self.model or (width and self.width not in (0, width)):
            self.model, self.batches, self.count, self.problem = model, [], 0, ""

    def add(self, found: Embeddings) -> None:
        vectors = meaningful(found)
        self.problem = ""
        self.batches.append(vectors)
        self.count += len(vectors)

    def similarities(self, query: Vectors) -> Mapping[int, float]:
        """Return each chunk's cosine similarity to a vector, or {} if the dimensions differ."""
        if self.width != len(query):
            return {}
        scores = (float(score) for batch in list(self.batches) for score in batch @ query)
        return dict(enumerate(scores))


def meaningful(found: Embeddings) -> Vectors:
    """Return the vectors for the texts. Texts with too many unknown tokens get zero vectors, which
    match no query.
    """
    unknown = [n for n, share in enumerate(found.unknown_shares) if share > MOST_UNKNOWN]
    if not unknown:
        return found.vectors
    vectors = found.vectors.copy()
    vectors[unknown] = 0
    return vectors
