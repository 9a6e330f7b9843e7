"""The memories most like a question, in a collection that has been read."""

from dataclasses import dataclass

from apps.workspace.embeddings.port import Embeddings
from apps.workspace.memories.edits import fits
from apps.workspace.memories.port import UNKNOWN, Collection, Hit
from apps.workspace.memories.similarity import best, cosines, letters_in_common


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    collection: Collection

    async def nearest(self, query: str, asked: Embeddings, limit: int) -> list[Hit] | None:
        is_comparable = fits(self.collection, asked)
        return nearest(self.collection, query, asked, limit) if is_comparable else None


def index_of(collection: Collection) -> CollectionIndex | None:
    """None without memories."""
    return CollectionIndex(collection) if collection.memories else None


def nearest(collection: Collection, query: str, asked: Embeddings, limit: int) -> list[Hit]:
    """The best first; `asked` is the embedding of the query, by the model of the collection."""
    scores = cosines(collection.vectors, asked.vectors[0])
    is_unknown = asked.unknown_shares[0] > UNKNOWN
    for place in range(len(scores)) if is_unknown else collection.unknown_places:
        scores[place] = letters_in_common(collection.memories[place].content, query)
    return [Hit(collection.memories[place], float(scores[place])) for place in best(scores, limit)]
