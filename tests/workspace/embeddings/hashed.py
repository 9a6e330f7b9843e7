"""An embedder without a model. Texts with common words and parts of words are similar."""

import math
import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from apps.workspace.embeddings.port import Embeddings

DIMENSION = 384
WORD = re.compile(r"\w+")


class HashedEmbedder:
    """Deterministic. Words outside ASCII are unknown to it. `asked` has the texts of each call."""

    def __init__(self, model: str = "hashed") -> None:
        self.model = model
        self.asked: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        self.asked.append(tuple(texts))
        words = [WORD.findall(text.lower()) for text in texts]
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for row, found in zip(rows, words, strict=True):
            row[:] = vector_of(found)
        return Embeddings(self.model, rows, tuple(map(unknown_share, words)), sum(map(len, words)))


def vector_of(words: Sequence[str]) -> list[float]:
    vector = [0.0] * DIMENSION
    for word in words:
        known = word if word.isascii() else "?"
        for part in (known, *(known[at : at + 3] for at in range(len(known) - 2))):
            vector[crc32(part.encode()) % DIMENSION] += 1.0
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]


def unknown_share(words: Sequence[str]) -> float:
    return sum(not word.isascii() for word in words) / len(words) if words else 0.0
