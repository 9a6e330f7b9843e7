"""Tests deployments with one small request, which shows whether the service answers."""

from apps.workspace.embeddings.probe import probe as probe_embedder
from apps.workspace.local.deployments.lookup import FoundDeployment
from apps.workspace.local.deployments.providers import make_chat_model, make_embedder
from apps.workspace.local.models import Deployment
from apps.workspace.services.probe import SECONDS, ProbeResult, probe

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
