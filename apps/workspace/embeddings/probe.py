"""Probe of an embedder with one word, explained in words for a person."""

import asyncio

from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embedder
from apps.workspace.services.probe import SECONDS, STATUS_RESULTS, ProbeResult


async def probe(embedder: Embedder, seconds: float = SECONDS) -> ProbeResult:
    """No failure of the service is raised."""
    try:
        async with asyncio.timeout(seconds):
            found = await embedder.embed(("ready",))
    except TimeoutError:
        return ProbeResult("time", f"The service gave no answer within {seconds:g} seconds.")
    except ServiceFailed as failure:
        # What was written of statuses for chat models holds here too.
        step, text = STATUS_RESULTS.get(failure.status or 0, ("answer", str(failure)))
        return ProbeResult(step, text)
    size = found.vectors.shape[1]
    return ProbeResult(None, f"The model makes vectors of {size} dimensions.")
