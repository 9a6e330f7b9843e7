"""Defines the interface of embedders, which compute vectors for texts. Texts with a similar meaning
have similar vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any
"""Rows of unit length, one for each text, or a single row."""


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of several texts, in the same order as the texts."""

    model: str
    """The name to store with the vectors. Vectors from different models are not compared."""
    vectors: Vectors
    """One row of unit length for each text, so that the product of two rows is their cosine. The
    row of a text without content consists of zeros.
    """
    unknown_shares: tuple[float, ...]
    """The fraction of each text's tokens that the model does not know, or 0.0 if the model cannot
    report it. Texts that consist of unknown tokens seem similar, whatever their content is.
    """
    prompt_tokens: int = 0


class Embedder(Protocol):
    @property
    def model(self) -> str:
        """Return the name of the model, which is stored with its vectors."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts. Texts longer than the model's limit are truncated. Raises `ServiceFailed` if
        the embeddings cannot be computed.
        """
        ...
