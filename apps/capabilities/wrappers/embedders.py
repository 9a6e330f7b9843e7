"""Finds the embedding model of a run, and records the usage of its calls."""

from apps.capabilities.registry import Opening
from apps.workspace.embeddings.metered import meter_embedder
from apps.workspace.embeddings.port import Embedder


async def find_embedder(opening: Opening, deployment_id: str | None) -> Embedder:
    """Return a deployment's embedder, or the installation's default if `deployment_id` is None.
    Raises the errors of `Workspace.embedder`.
    """
    embedder = await opening.workspace.embedder(deployment_id)
    return meter_embedder(embedder, deployment_id, opening.meter)
