"""How a model gets the attachments that it is given.

DIAL and our own applications fetch files of the caller by their path. A service elsewhere cannot,
so what is in them travels along: as an attachment where DIAL's messages are understood, else as
content parts of OpenAI's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.messages import Attachment
from apps.capabilities.wrappers.attachments import matches
from apps.errors import QuickAppError
from apps.workspace.loading.files import as_data
from apps.workspace.loading.loader import Loader
from apps.workspace.loading.places import place_of

MOST_CHARACTERS = 28 * 1024 * 1024
"""Of all data in one request, about 20 MiB of files: services refuse requests much larger."""
TOO_MUCH = "there are too many, or too large, files in this conversation."


@dataclass(frozen=True, slots=True)
class Delivered:
    """An attachment that carries its data, or an address that the service itself fetches."""

    attachment: Attachment

    @property
    def size(self) -> int:
        return len(self.attachment.data or "")


@dataclass(frozen=True, slots=True)
class Packing:
    """Files of one run with what is in them, each packed once however often the model is asked."""

    packed: dict[str, Delivered | str] = field(default_factory=dict)

    async def pack(self, attachment: Attachment, loader: Loader) -> Delivered | str:
        """The attachment with its data, or why it has none."""
        url = attachment.url
        if not url:
            return Delivered(attachment)
        if url not in self.packed:
            self.packed[url] = await load(attachment, url, loader)
        return self.packed[url]


async def load(attachment: Attachment, url: str, loader: Loader) -> Delivered | str:
    if place_of(url).kind == "external":
        return Delivered(attachment)
    try:
        file = await loader.take(url)
    except QuickAppError as error:
        return str(error)
    known = file.type if matches(file.type, (attachment.type,)) else attachment.type
    return Delivered(
        replace(
            attachment,
            type=known,
            title=attachment.title or file.name,
            data=as_data(replace(file, type=known)),
            url=None,
        )
    )


def part(attachment: Attachment) -> Mapping[str, Any]:
    """As services read it that know OpenAI's messages only."""
    kind = attachment.type.partition(";")[0].strip().lower()
    data = attachment.data or ""
    if kind.startswith("image/"):
        url = attachment.url or f"data:{kind};base64,{data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if kind.startswith("text/"):
        return {"type": "text", "text": f"{attachment.title}:\n{data}"}
    file = {"filename": attachment.title, "file_data": f"data:{kind};base64,{data}"}
    return {"type": "file", "file": file}
