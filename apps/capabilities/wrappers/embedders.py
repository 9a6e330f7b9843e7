"""The embedder of a run, whose calls count as those of the run."""

from django.conf import settings

from apps.capabilities.registry import Opening
from apps.workspace.embeddings.metered import MeteredEmbedder
from apps.workspace.embeddings.port import Embedder


async def find_embedder(opening: Opening, deployment_id: str | None) -> Embedder:
    """None for the installation's default; the model that comes with the server costs nothing.

    Raises as `Workspace.embedder`.
    """
    embedder = await opening.workspace.embedder(deployment_id)
    name = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
    return MeteredEmbedder(embedder, name, opening.meter) if name else embedder
