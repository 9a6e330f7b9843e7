"""Which attachments are sent to the model, and which it may ask for."""

from collections.abc import Callable, Iterator, Sequence

from apps.agent.messages import Attachment, Message
from apps.manifest.orchestrator import AttachmentStrategy
from apps.workspace.media_types import matches
from apps.workspace.port import DeploymentInfo

TOOL_NAME = "internal_attachments_get_content"
PICTURES = ("image/*",)

Keep = Callable[[Message, Attachment], bool]


def keep_policy(
    strategy: AttachmentStrategy | None, messages: Sequence[Message], info: DeploymentInfo
) -> Keep:
    """Pictures of the user that the deployment accepts, and contents that the model asked for.

    A picture that the model can ask for is not sent before it does.
    """
    asked = set(content_calls(messages)) if strategy is not None else set()

    def keep(message: Message, attachment: Attachment) -> bool:
        if message.tool_call_id in asked:
            return True
        if message.role != "user" or not matches(attachment.type, PICTURES):
            return False
        may_send = info.reads(attachment.type) is not False
        return may_send and (strategy is None or not is_offered(attachment, strategy, info))

    return keep


def content_calls(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for call in message.tool_calls:
            if call.name == TOOL_NAME:
                yield call.id


def is_offered(attachment: Attachment, strategy: AttachmentStrategy, info: DeploymentInfo) -> bool:
    return bool(attachment.url) and is_accepted(attachment.type, strategy, info)


def is_accepted(media_type: str, strategy: AttachmentStrategy, info: DeploymentInfo) -> bool:
    """By the deployment, and by the manifest if that says anything."""
    wished = strategy.accepted_types
    return matches(media_type, info.input_attachment_types) and (
        wished is None or matches(media_type, wished)
    )
