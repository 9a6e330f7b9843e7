"""Resources named in a request or an answer, to which Core grants the other side access."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.dial_core.keys import Caller, RequestKey
from tests.dial_core.permissions import READ, WRITE
from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import canonical, covers, is_resource

METADATA_TYPE = "application/vnd.dial.metadata+json"


def named_in_request(body: dict[str, Any]) -> list[str]:
    """Return the named resources. Raises `Refusal` for a folder that is not named by its metadata."""
    urls = []
    for message in objects(body.get("messages")):
        content = message.get("custom_content") or {}
        for attachment in attachments(content):
            url = attachment.get("url")
            is_metadata = attachment.get("type") == METADATA_TYPE
            if is_metadata and not str(url).startswith("metadata/"):
                raise Refusal(400, f"Url of metadata attachment must start with metadata/: {url}")
            urls.append(url)
        urls += [item.get("url") for item in objects(content.get("skills"))]
        for part in objects(message.get("content")):
            urls.append((part.get("image_url") or {}).get("url"))
    return [resource(url) for url in urls if isinstance(url, str) and is_resource(bare(url))]


def share_upward(caller: Caller, key: RequestKey, document: Any) -> None:
    """Grant the caller read and write access to what an answer attaches from its appdata."""
    if caller.key is None or not isinstance(document, dict):
        return
    for choice in objects(document.get("choices")):
        message = choice.get("delta") or choice.get("message") or {}
        for attachment in attachments(message.get("custom_content") or {}):
            url = attachment.get("url")
            if isinstance(url, str) and covers(f"files/{key.appdata}/", resource(url)):
                caller.key.grant(resource(url), {READ, WRITE})


def attachments(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from objects(content.get("attachments"))
    for stage in objects(content.get("stages")):
        yield from objects(stage.get("attachments"))


def objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def bare(url: str) -> str:
    return url.removeprefix("metadata/")


def resource(url: str) -> str:
    return canonical(bare(url))


class Events:
    """Reads a stream in passing: its documents, and whether it contained `[DONE]`."""

    def __init__(self) -> None:
        self.is_done = False
        self._rest = b""

    def read(self, data: bytes) -> Iterator[Any]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            value = line.removeprefix(b"data:").strip()
            if not line.startswith(b"data:"):
                continue
            if value == b"[DONE]":
                self.is_done = True
                continue
            try:
                yield json.loads(value)
            except ValueError:
                continue
