"""Embeddings: texts as vectors, in which texts of like meaning are close."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # importing NumPy costs every process time and memory, of which few need it
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of some texts, in the order of the texts.

    - `model`: the name to be stored beside vectors; vectors of different models are not compared.
    - `vectors`: one row for each text, of unit length, so that a product of two is their cosine;
      zeros for a text without content.
    - `unknown_shares`: for each text the share, 0 to 1, of tokens that the model does not know;
      0.0 when the model cannot tell. Texts of unknown tokens seem alike whatever they say.
    """

    model: str
    vectors: "NDArray[np.float32]"
    unknown_shares: tuple[float, ...]
    prompt_tokens: int = 0


class Embedder(Protocol):
    @property
    def model(self) -> str:
        """The name to be stored beside vectors."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Texts longer than the model reads are cut. Raises `ServiceFailed`."""
        ...
