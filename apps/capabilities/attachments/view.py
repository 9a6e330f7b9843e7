"""The conversation as the model sees it: told of every attachment, given those that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.messages import Attachment, Message
from apps.capabilities.attachments.delivery import (
    MOST_CHARACTERS,
    TOO_MUCH,
    Delivered,
    Packing,
    part,
)
from apps.capabilities.attachments.metadata import described
from apps.capabilities.attachments.policies import Keep, Policy
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.texts import one_line
from apps.workspace.port import DeploymentInfo

BROUGHT = "This is what the tools above brought:"
"""Services that know OpenAI's messages only take nothing but text from a tool."""

Part = Mapping[str, Any]

Kept = dict[int, list[tuple[Attachment, Delivered | str]]]
"""By the place of a message: its attachments that are kept, and how each is delivered."""


@dataclass(frozen=True, slots=True)
class View:
    """A step before each call of the model. `problems` tell, by URL, what could not be fetched."""

    opening: Opening
    deployment_id: str
    policies: Sequence[Policy]
    problems: Mapping[str, str]
    packing: Packing = field(default_factory=Packing)

    async def __call__(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The very same object for a conversation without attachments."""
        if not any(message.attachments for message in messages):
            return messages
        info = await self.opening.workspace.facts(self.deployment_id)
        keeps = [policy(messages, info) for policy in self.policies]
        kept = await self.deliver(messages, keeps, info)
        if info.files == "none":
            return in_parts(messages, kept, self.problems)
        return [
            shown(message, kept.get(place, []), self.problems)
            for place, message in enumerate(messages)
        ]

    async def deliver(
        self, messages: Sequence[Message], keeps: Sequence[Keep], info: DeploymentInfo
    ) -> Kept:
        """The newest first, as long as there is room."""
        kept: Kept = {}
        room = MOST_CHARACTERS
        for place in range(len(messages) - 1, -1, -1):
            message = messages[place]
            for attachment in message.attachments:
                if attachment.url in self.problems:
                    continue
                if not any(keep(message, attachment) for keep in keeps):
                    continue
                outcome = await self.deliver_one(attachment, info) if room >= 0 else TOO_MUCH
                if isinstance(outcome, Delivered):
                    room -= outcome.size
                    if room < 0:
                        outcome = TOO_MUCH
                kept.setdefault(place, []).append((attachment, outcome))
        return kept

    async def deliver_one(self, attachment: Attachment, info: DeploymentInfo) -> Delivered | str:
        if info.files == "path":
            return Delivered(attachment)
        return await self.packing.pack(attachment, self.opening.loader)


def shown(
    message: Message,
    kept: Sequence[tuple[Attachment, Delivered | str]],
    problems: Mapping[str, str],
) -> Message:
    """Told, and with the attachments that are delivered."""
    if not message.attachments:
        return message
    delivered = tuple(one.attachment for _, one in kept if isinstance(one, Delivered))
    return replace(described(message, notes(message, kept, problems)), attachments=delivered)


def notes(
    message: Message,
    kept: Sequence[tuple[Attachment, Delivered | str]],
    problems: Mapping[str, str],
) -> list[str]:
    """Why something cannot be seen that the user believes to have shown."""
    unfetched = ((a, problems[a.url or ""]) for a in message.attachments if a.url in problems)
    undelivered = ((a, outcome) for a, outcome in kept if isinstance(outcome, str))
    return [
        f"[The attachment {name(a)} cannot be shown: {why}]"
        for a, why in (*unfetched, *undelivered)
    ]


def name(attachment: Attachment) -> str:
    return repr(one_line(attachment.title)) if attachment.title else "without a title"


def in_parts(messages: Sequence[Message], kept: Kept, problems: Mapping[str, str]) -> list[Message]:
    """What a tool brought follows behind the results of all calls of the same answer."""
    seen: list[Message] = []
    brought: list[Part] = []
    for place, message in enumerate(messages):
        told = shown(message, kept.get(place, []), problems)
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
