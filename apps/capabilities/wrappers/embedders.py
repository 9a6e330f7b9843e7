"""The embedder of a run, whose calls count as those of the run."""

from apps.capabilities.registry import Opening
from apps.workspace.embeddings.metered import metered
from apps.workspace.embeddings.port import Embedder


async def find_embedder(opening: Opening, deployment_id: str | None) -> Embedder:
    """None for the installation's default. Raises as `Workspace.embedder`."""
    embedder = await opening.workspace.embedder(deployment_id)
    return metered(embedder, deployment_id, opening.meter)
