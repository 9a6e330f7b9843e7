"""Tests whether a deployment's service answers, with one small request."""

import asyncio

from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.deployments.found_deployments import (
    FoundDeployment,
    make_chat_model,
    make_embedder,
)
from apps.workspace.local.models import Deployment
from apps.workspace.services.probe import SECONDS, STATUS_RESULTS, ProbeResult, probe

NO_PICTURE = "Not tested, because images can cost money. Ask for one in a conversation."


async def probe_deployment(deployment: FoundDeployment, seconds: float = SECONDS) -> ProbeResult:
    """Send a small request to the deployment, unless it is an image model. A failure of the service
    is returned in the result, not raised.
    """
    if deployment.provider == Deployment.Provider.DEMO:
        return ProbeResult(None, "The demo model answers; it is part of this server.")
    if deployment.info.kind == "image":
        return ProbeResult("answer", NO_PICTURE)
    if deployment.info.kind == "embedding":
        return await probe_embedder(make_embedder(deployment), seconds)
    return await probe(make_chat_model(deployment, seconds), seconds)


async def probe_embedder(embedder: Embedder, seconds: float = SECONDS) -> ProbeResult:
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
