"""Finds the embedder of a run, whose calls count towards the run."""

from apps.capabilities.registry import Opening
from apps.workspace.embeddings.metered import meter_embedder
from apps.workspace.embeddings.port import Embedder


async def find_embedder(opening: Opening, deployment_id: str | None) -> Embedder:
    """Return the embedder of a deployment, or of the installation's default for None. Raises the
    errors of `Workspace.embedder`.
    """
    embedder = await opening.workspace.embedder(deployment_id)
    return meter_embedder(embedder, deployment_id, opening.meter)
