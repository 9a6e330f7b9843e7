"""Sends attachments to the application's model: a description of every attachment, and the content
of the attachments that the policy selects.

DIAL and applications on this site fetch files by path. Other services receive the data, as DIAL
attachments or as OpenAI content parts.

A second capability loads the content of attachments on demand, if the application enables this. It
is separate because its steps run at another position in `settings.CAPABILITIES`.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import msgspec

from apps.agent.messages import Attachment, ModelMessage
from apps.capabilities.attachments.contents import CONTENT_PARTS, prepare_contents
from apps.capabilities.attachments.policies import Keep, keep_policy
from apps.capabilities.attachments.promotion import promotion
from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import QuickAppError
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import AttachmentStrategy
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.loading.files import as_data
from apps.workspace.loading.loader import Loader
from apps.workspace.media_types import matches_any, media_type
from apps.workspace.port import DeploymentInfo

FILES_INTRODUCTION = "The tools above returned these files:"
"""This text introduces a tool's attachments in a user message, because tool results can contain
only text in OpenAI's API.
"""

Part = Mapping[str, Any]

SelectedAttachments = dict[int, list[tuple[Attachment, Attachment | str]]]
"""Maps the index of a message to its selected attachments, each paired with the attachment to send
in its place, or with the reason why it cannot be sent.
"""
MOST_CHARACTERS = 28 * 1024 * 1024
"""The size limit for the attachments in one request, in characters of encoded data: about 20 MiB of
files. Services reject much larger requests.
"""
TOO_MUCH = "this conversation has too many or too large files."
DESCRIBED_ROLES = frozenset({"user", "tool"})
"""Attachments are described in messages with these roles. Assistant messages are excluded, because
a model would imitate descriptions in its own messages.
"""


def prepare(manifest: Manifest) -> Open:
    deployment_id = manifest.orchestrator.deployment.id
    strategy = manifest.orchestrator.attachment_strategy

    def open_attachments(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if any(message.attachments for message in opening.conversation.messages):
            return open_with_attachments(opening)
        return nullcontext(
            Contribution(view=(AttachmentView(opening, deployment_id, strategy, {}),))
        )

    @asynccontextmanager
    async def open_with_attachments(opening: Opening) -> AsyncIterator[Contribution]:
        try:
            promoted = await promotion(opening, deployment_id)
        except QuickAppError:
            yield NOTHING  # the run reports why its model cannot be called
            return
        view = AttachmentView(opening, deployment_id, strategy, promoted.problems)
        history = (promoted.step,) if promoted.files else ()
        yield Contribution(history=history, view=(view,), issues=promoted.issues)

    return open_attachments


@dataclass(frozen=True, slots=True)
class FilePacking:
    """Loads the files that are sent to the model. Each file is loaded once per run."""

    packed: dict[str, Attachment | str] = field(default_factory=dict)

    async def pack(
        self, attachment: Attachment, info: DeploymentInfo, loader: Loader
    ) -> Attachment | str:
        """Return the attachment with its data, or with a URL that the service fetches itself.
        Return an error text if the attachment cannot be sent.
        """
        url = attachment.url
        if not url or info.files == "path":
            return attachment
        if url not in self.packed:
            self.packed[url] = await loaded_attachment(attachment, url, loader)
        return self.packed[url]


async def loaded_attachment(attachment: Attachment, url: str, loader: Loader) -> Attachment | str:
    if locate_file(url).kind == "external":
        return attachment
    try:
        file = await loader.take(url)
    except QuickAppError as error:
        return str(error)
    known = file.type if matches_any(file.type, (attachment.type,)) else attachment.type
    data = as_data(replace(file, type=known))
    title = attachment.title or file.name
    return replace(attachment, type=known, title=title, data=data, url=None)


class AttachmentView(msgspec.Struct, frozen=True):
    """Prepares the attachments in the messages before each model call."""

    opening: Opening
    deployment_id: str
    strategy: AttachmentStrategy | None
    problems: Mapping[str, str]
    """The reasons why URLs could not be fetched, by URL."""
    packing: FilePacking = msgspec.field(default_factory=FilePacking)

    async def __call__(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        """Return the messages with prepared attachments, or the same object if there are none."""
        if not any(message.attachments for message in messages):
            return messages
        info = await self.opening.workspace.facts(self.deployment_id)
        kept = await self.deliver(messages, keep_policy(self.strategy, messages, info), info)
        if info.files == "none":
            return in_parts(messages, kept, self.problems)
        return [
            visible_message(message, kept.get(index, []), self.problems)
            for index, message in enumerate(messages)
        ]

    async def deliver(
        self, messages: Sequence[ModelMessage], keep: Keep, info: DeploymentInfo
    ) -> SelectedAttachments:
        """Load the attachments that `keep` selects, newest message first, up to the size limit."""
        kept: SelectedAttachments = {}
        room, loader = MOST_CHARACTERS, self.opening.loader
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
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
                kept.setdefault(index, []).append((attachment, outcome))
        return kept


def part(attachment: Attachment) -> Mapping[str, Any]:
    kind = media_type(attachment.type)
    data = attachment.data or ""
    if kind.startswith("image/"):
        url = attachment.url or f"data:{kind};base64,{data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if kind.startswith("text/"):
        return {"type": "text", "text": f"{attachment.title}:\n{data}"}
    file = {"filename": attachment.title, "file_data": f"data:{kind};base64,{data}"}
    return {"type": "file", "file": file}


def describe_attachments(message: ModelMessage, notes: Sequence[str] = ()) -> ModelMessage:
    """Add a description of the message's attachments, and the `notes`, to the message's text."""
    if message.role not in DESCRIBED_ROLES or not message.attachments:
        return message
    lines = [line for attachment in message.attachments for line in attachment_lines(attachment)]
    text = "\n".join(("", "<attachments>", *lines, "</attachments>", *notes))
    content = message.content
    if isinstance(content, str):
        return replace(message, content=f"{content}{text}")
    return replace(message, content=(*content, {"type": "text", "text": text}))


def attachment_lines(attachment: Attachment) -> Iterator[str]:
    yield "  <attachment>"
    yield element("title", attachment.title)
    yield element("type", attachment.type)
    if attachment.url is not None:
        yield element("url", attachment.url)
    if attachment.reference_url is not None:
        yield element("reference_url", attachment.reference_url)
    yield "  </attachment>"


def element(name: str, text: str) -> str:
    return f"    <{name}>{escape(text, quote=False)}</{name}>"


def visible_message(
    message: ModelMessage,
    kept: Sequence[tuple[Attachment, Attachment | str]],
    problems: Mapping[str, str],
) -> ModelMessage:
    """Describe the message's attachments in its text, and attach the files that can be sent."""
    if not message.attachments:
        return message
    delivered = tuple(one for _, one in kept if isinstance(one, Attachment))
    return replace(
        describe_attachments(message, notes(message, kept, problems)), attachments=delivered
    )


def notes(
    message: ModelMessage,
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


def in_parts(
    messages: Sequence[ModelMessage], kept: SelectedAttachments, problems: Mapping[str, str]
) -> list[ModelMessage]:
    """Convert attachments to content parts. A tool's attachments follow in a user message, after
    all tool results of the step.
    """
    seen: list[ModelMessage] = []
    brought: list[Part] = []
    for index, message in enumerate(messages):
        told = visible_message(message, kept.get(index, []), problems)
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


def following(brought: Sequence[Part]) -> list[ModelMessage]:
    return [ModelMessage("user", (text_part(FILES_INTRODUCTION), *brought))] if brought else []


def as_parts(message: ModelMessage) -> tuple[Part, ...]:
    content = message.content
    if isinstance(content, str):
        return (text_part(content),) if content else ()
    return content


def text_part(text: str) -> Part:
    return {"type": "text", "text": text}


attachments = Capability("attachments", frozenset(), prepare)
attachment_contents = Capability("attachment content", CONTENT_PARTS, prepare_contents)
