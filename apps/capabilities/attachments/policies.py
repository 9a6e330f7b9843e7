"""Which attachments are sent to the model: those that at least one policy keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from apps.agent.messages import Attachment, Message
from apps.capabilities.wrappers.attachments import matches
from apps.manifest.orchestrator import AttachmentStrategy
from apps.workspace.port import DeploymentInfo

TOOL_NAME = "internal_attachments_get_content"
PICTURES = ("image/*",)

Keep = Callable[[Message, Attachment], bool]
Policy = Callable[[Sequence[Message], DeploymentInfo], Keep]
"""Reads the whole conversation and returns a decision on single attachments."""


def policies(strategy: AttachmentStrategy | None) -> tuple[Policy, ...]:
    return (pictures,) if strategy is None else (pictures_at_once(strategy), contents)


def pictures(messages: Sequence[Message], info: DeploymentInfo) -> Keep:
    """Pictures of the user, of the types that the deployment accepts, if it declares any."""
    taken = info.input_attachment_types

    def keep(message: Message, attachment: Attachment) -> bool:
        is_shown = message.role == "user" and matches(attachment.type, PICTURES)
        return is_shown and (not taken or matches(attachment.type, taken))

    return keep


def pictures_at_once(strategy: AttachmentStrategy) -> Policy:
    """Pictures of the user that the model cannot ask for."""

    def policy(messages: Sequence[Message], info: DeploymentInfo) -> Keep:
        shown = pictures(messages, info)
        return lambda message, attachment: (
            shown(message, attachment) and not is_offered(attachment, strategy, info)
        )

    return policy


def contents(messages: Sequence[Message], info: DeploymentInfo) -> Keep:
    """Contents that the model has asked for."""
    asked = set(content_calls(messages))
    return lambda message, attachment: message.tool_call_id in asked


def content_calls(messages: Sequence[Message]) -> Iterator[str]:
    """Ids of calls."""
    for message in messages:
        for call in message.tool_calls:
            if call.name == TOOL_NAME:
                yield call.id


def is_offered(attachment: Attachment, strategy: AttachmentStrategy, info: DeploymentInfo) -> bool:
    """Whether the model may ask for the content of an attachment."""
    return bool(attachment.url) and is_accepted(attachment.type, strategy, info)


def is_accepted(media_type: str, strategy: AttachmentStrategy, info: DeploymentInfo) -> bool:
    """By the deployment, and by the manifest if that says anything."""
    wished = strategy.accepted_types
    return matches(media_type, info.input_attachment_types) and (
        wished is None or matches(media_type, wished)
    )
