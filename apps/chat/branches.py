"""Which runs of a conversation are shown."""

from uuid import UUID

from apps.chat.models import Conversation


def shown_runs(conversation: Conversation) -> list[UUID]:
    """The runs of the shown path, in order."""
    said = conversation.messages.said().exclude(run=None).order_by("pk")
    return [*dict.fromkeys(said.values_list("run_id", flat=True))]
