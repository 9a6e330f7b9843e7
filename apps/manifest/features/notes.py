"""Defines the feature that lets an application read and write users' notes."""

from apps.manifest.nodes import Node
from apps.manifest.toolsets.approvals import Approval


class Notes(Node):
    """Tools that read and write the notes of the user, or of their team."""

    enabled: bool = False
    """Give the model the tools for notes. Only signed-in users and their keys have notes."""
    approval: Approval | None = None
    """Controls which changes to notes need approval. Null: the rules in `features.approval`. If
    these have no mode, each change waits for the user.
    """
    embedding_deployment_id: str | None = None
    """The ID of the embedding deployment. Null: the installation's embedding model."""
