"""How attachments reach the model: described in words, and as data where a service needs it.

DIAL and applications of this installation fetch files of the caller by their path. Other services
get the data: as an attachment where they understand DIAL's messages, else as OpenAI's content parts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from apps.agent.messages import Attachment, Message
from apps.errors import QuickAppError
from apps.workspace.loading.files import as_data
from apps.workspace.loading.loader import Loader
from apps.workspace.loading.places import place_of
from apps.workspace.media_types import matches, media_type
from apps.workspace.port import DeploymentInfo

MOST_CHARACTERS = 28 * 1024 * 1024
"""Of all data in one request, about 20 MiB of files: services refuse requests much larger."""
TOO_MUCH = "there are too many, or too large, files in this conversation."
TOLD_ROLES = frozenset({"user", "tool"})
"""Not `assistant`: a model imitates what it reads in its own messages."""


@dataclass(frozen=True, slots=True)
class FilePacking:
    """The data of a run's files; each file is loaded once."""

    packed: dict[str, Attachment | str] = field(default_factory=dict)

    async def pack(
        self, attachment: Attachment, info: DeploymentInfo, loader: Loader
    ) -> Attachment | str:
        """The attachment with its data, or with an address that the service fetches itself; else
        why it cannot be delivered.
        """
        url = attachment.url
        if not url or info.files == "path":
            return attachment
        if url not in self.packed:
            self.packed[url] = await loaded_attachment(attachment, url, loader)
        return self.packed[url]


async def loaded_attachment(attachment: Attachment, url: str, loader: Loader) -> Attachment | str:
    if place_of(url).kind == "external":
        return attachment
    try:
        file = await loader.take(url)
    except QuickAppError as error:
        return str(error)
    known = file.type if matches(file.type, (attachment.type,)) else attachment.type
    data = as_data(replace(file, type=known))
    title = attachment.title or file.name
    return replace(attachment, type=known, title=title, data=data, url=None)


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


def described(message: Message, notes: Sequence[str] = ()) -> Message:
    """The message with a block about its attachments and the notes at the end of its text."""
    if message.role not in TOLD_ROLES or not message.attachments:
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
