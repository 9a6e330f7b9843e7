"""The vector of a request, by which documents are searched by meaning."""

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.capabilities.documents.index import MOST_UNKNOWN
from apps.errors import QuickAppError
from apps.workspace.embeddings.port import Embedder

if TYPE_CHECKING:  # as in the port of embeddings: few processes need NumPy
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

VECTOR_SECONDS = 5.0
"""For the vector of a request; then it is searched by words."""


@dataclass(frozen=True, slots=True)
class RequestVector:
    model: str
    vector: "NDArray[np.float32]"


async def request_vector(embedder: Embedder, request: str) -> tuple[RequestVector | None, int]:
    """None for a request that is searched by words alone; and the tokens that it took."""
    try:
        async with asyncio.timeout(VECTOR_SECONDS):
            found = await embedder.embed([request])
    except (QuickAppError, TimeoutError) as error:
        logger.warning("A request is searched by words alone: %s", str(error) or "time is over")
        return None, 0
    if found.unknown_shares[0] > MOST_UNKNOWN:
        return None, found.prompt_tokens
    return RequestVector(embedder.model, found.vectors[0]), found.prompt_tokens
