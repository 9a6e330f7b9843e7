"""Tests an embedder with one word, and returns a result for operators."""

import asyncio

from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embedder
from apps.workspace.services.probe import SECONDS, STATUS_RESULTS, ProbeResult


async def probe(embedder: Embedder, seconds: float = SECONDS) -> ProbeResult:
    """Embed one word within `seconds`. A failure of the service is returned in the result, not
    raised.
    """
    try:
        async with asyncio.timeout(seconds):
            found = await embedder.embed(("ready",))
    except TimeoutError:
        return ProbeResult("time", f"The service did not respond within {seconds:g} seconds.")
    except ServiceFailed as failure:
        # The explanations of statuses for chat models also apply here.
        step, text = STATUS_RESULTS.get(failure.status or 0, ("answer", str(failure)))
        return ProbeResult(step, text)
    size = found.vectors.shape[1]
    return ProbeResult(None, f"The model returns vectors with {size} dimensions.")
