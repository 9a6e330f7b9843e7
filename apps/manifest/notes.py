"""The notes that people and agents keep together."""

from apps.manifest.approvals import Approval
from apps.manifest.nodes import Node


class Notes(Node):
    """Tools that read and write the notes of the person who asks, or of their team."""

    enabled: bool = False
    """Give the model the tools of notes. Only people who are signed in and their keys have notes."""
    approval: Approval | None = None
    """Which changes of notes wait for the person. Null: as `features.approval` says; if that has no
    mode, each waits until the person has approved it."""
    embedding_deployment_id: str | None = None
    """Id of the deployment that makes notes comparable. Null: that of the installation."""
