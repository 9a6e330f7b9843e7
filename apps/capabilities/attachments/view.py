"""The conversation as the model sees it: all attachments described, those that are kept sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from apps.agent.messages import Attachment, Message
from apps.capabilities.attachments.delivery import (
    MOST_CHARACTERS,
    TOO_MUCH,
    FilePacking,
    described,
    part,
)
from apps.capabilities.attachments.policies import Keep, keep_policy
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.texts import one_line
from apps.manifest.orchestrator import AttachmentStrategy
from apps.workspace.port import DeploymentInfo

BROUGHT = "This is what the tools above brought:"
"""A tool's attachments follow in a message of the user: in OpenAI's API a tool returns text."""

Part = Mapping[str, Any]

Kept = dict[int, list[tuple[Attachment, Attachment | str]]]
"""Index of a message → its attachments that are kept, each with its delivery or a problem."""


class AttachmentView(msgspec.Struct, frozen=True):
    """A step before each call of the model. `problems`: URL → why it could not be fetched."""

    opening: Opening
    deployment_id: str
    strategy: AttachmentStrategy | None
    problems: Mapping[str, str]
    packing: FilePacking = msgspec.field(default_factory=FilePacking)

    async def __call__(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The same object for a conversation without attachments."""
        if not any(message.attachments for message in messages):
            return messages
        info = await self.opening.workspace.facts(self.deployment_id)
        kept = await self.deliver(messages, keep_policy(self.strategy, messages, info), info)
        if info.files == "none":
            return in_parts(messages, kept, self.problems)
        return [
            visible_message(message, kept.get(place, []), self.problems)
            for place, message in enumerate(messages)
        ]

    async def deliver(self, messages: Sequence[Message], keep: Keep, info: DeploymentInfo) -> Kept:
        """The newest first, as long as there is room."""
        kept: Kept = {}
        room, loader = MOST_CHARACTERS, self.opening.loader
        for place in range(len(messages) - 1, -1, -1):
            message = messages[place]
            for attachment in message.attachments:
                if attachment.url in self.problems or not keep(message, attachment):
                    continue
                outcome: Attachment | str = TOO_MUCH
                if room >= 0:
                    await loader.distrust(attachment.url or "")
                    outcome = await self.packing.pack(attachment, info, loader)
                if isinstance(outcome, Attachment):
                    room -= len(outcome.data or "")
                    if room < 0:
                        outcome = TOO_MUCH
                kept.setdefault(place, []).append((attachment, outcome))
        return kept


def visible_message(
    message: Message,
    kept: Sequence[tuple[Attachment, Attachment | str]],
    problems: Mapping[str, str],
) -> Message:
    """Described, with the attachments that are delivered."""
    if not message.attachments:
        return message
    delivered = tuple(one for _, one in kept if isinstance(one, Attachment))
    return replace(described(message, notes(message, kept, problems)), attachments=delivered)


def notes(
    message: Message,
    kept: Sequence[tuple[Attachment, Attachment | str]],
    problems: Mapping[str, str],
) -> list[str]:
    unfetched = ((a, problems[a.url or ""]) for a in message.attachments if a.url in problems)
    undelivered = ((a, outcome) for a, outcome in kept if isinstance(outcome, str))
    return [
        f"[The attachment {repr(one_line(a.title)) if a.title else 'without a title'} cannot be "
        f"shown: {why}]"
        for a, why in (*unfetched, *undelivered)
    ]


def in_parts(messages: Sequence[Message], kept: Kept, problems: Mapping[str, str]) -> list[Message]:
    """Attachments of tools follow after the results of all calls of the same answer."""
    seen: list[Message] = []
    brought: list[Part] = []
    for place, message in enumerate(messages):
        told = visible_message(message, kept.get(place, []), problems)
        parts = [part(attachment) for attachment in told.attachments]
        if parts:
            told = replace(told, attachments=())
        if message.role == "tool":
            brought += parts
        else:
            seen += following(brought)
            brought = []
            if parts:
                told = replace(told, content=(*as_parts(told), *parts))
        seen.append(told)
    return [*seen, *following(brought)]


def following(brought: Sequence[Part]) -> list[Message]:
    return [Message("user", (text_part(BROUGHT), *brought))] if brought else []


def as_parts(message: Message) -> tuple[Part, ...]:
    content = message.content
    if isinstance(content, str):
        return (text_part(content),) if content else ()
    return content


def text_part(text: str) -> Part:
    return {"type": "text", "text": text}
