"""Selects the attachments to send to the model, and the attachments that it may request."""

from collections.abc import Callable, Iterator, Sequence

from apps.agent.messages import Attachment, ModelMessage
from apps.manifest.orchestrator import AttachmentStrategy
from apps.workspace.media_types import matches_any
from apps.workspace.port import DeploymentInfo

TOOL_NAME = "internal_attachments_get_content"
PICTURES = ("image/*",)

Keep = Callable[[ModelMessage, Attachment], bool]


def keep_policy(
    strategy: AttachmentStrategy | None, messages: Sequence[ModelMessage], info: DeploymentInfo
) -> Keep:
    """Return a function that selects the attachments to send: the user's images, and the
    attachments whose content the model has requested.

    An image that the model can request is not sent by default.
    """
    asked = set(content_calls(messages)) if strategy is not None else set()

    def keep(message: ModelMessage, attachment: Attachment) -> bool:
        if message.tool_call_id in asked:
            return True
        if message.role != "user" or not matches_any(attachment.type, PICTURES):
            return False
        may_send = info.reads(attachment.type) is not False
        return may_send and (strategy is None or not is_offered(attachment, strategy, info))

    return keep


def content_calls(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        for call in message.tool_calls:
            if call.name == TOOL_NAME:
                yield call.id


def is_offered(attachment: Attachment, strategy: AttachmentStrategy, info: DeploymentInfo) -> bool:
    return bool(attachment.url) and is_accepted(attachment.type, strategy, info)


def is_accepted(media_type: str, strategy: AttachmentStrategy, info: DeploymentInfo) -> bool:
    """Return True if both the deployment and the manifest accept the media type."""
    wished = strategy.accepted_types
    return matches_any(media_type, info.input_attachment_types) and (
        wished is None or matches_any(media_type, wished)
    )
