"""Converts the result of running code to a tool result with attachments."""

import base64
import re
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.capabilities.interpreter.engines import ENDING_OF, TEXTS, Execution, ProducedFile
from apps.capabilities.interpreter.requests import DataSample, Request
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import store_file
from apps.capabilities.wrappers.value_texts import fence_code
from apps.errors import FileRefused

AS_ATTACHMENT = "Content will be presented as attachment"
CONTENT_TYPE = "application/json"
MOST_INLINE_BYTES = 512 * 1024
"""The size limit in bytes for attachments that are embedded in the answer, for callers without file
storage.
"""

_unsafe = re.compile(r"[^\w.-]+", re.ASCII)


async def make_result(execution: Execution, request: Request, opening: Opening) -> ToolResult:
    """Store the produced files as attachments. Return all other output as a JSON code block."""
    titles = titles_of(execution.produced, (request.display_title or "").strip())
    attachments: list[Attachment] = []
    notes = list(execution.notes)
    for item, title in zip(execution.produced, titles, strict=True):
        try:
            attachments.append(await store_produced_file(item, title, opening))
        except FileRefused as error:
            notes.append(f"{item.name or item.type} could not be stored: {error}")
    dumped = dump(execution, request.sample, notes)
    return ToolResult(fence_code(dumped, "json"), CONTENT_TYPE, attachments=tuple(attachments))


def dump(execution: Execution, sample: DataSample | None, notes: Sequence[str]) -> str:
    written: dict[str, Any] = {
        "status": execution.status,
        "result": page_text(execution.result, sample),
        "stdout": page_text(execution.stdout, sample),
        "stderr": execution.stderr,
        "display": {
            kind: data if kind in TEXTS else AS_ATTACHMENT
            for kind, data in execution.display.items()
        },
    }
    if files := [item.name for item in execution.produced if item.name]:
        written["files"] = dict.fromkeys(files, AS_ATTACHMENT)
    if notes:
        written["notes"] = list(notes)
    return msgspec.json.format(msgspec.json.encode(written), indent=2).decode()


def page_text(text: str, sample: DataSample | None) -> str:
    """Return the requested page of the text, or the last page if the number is too large."""
    if sample is None:
        return text
    pages = max(1, -(-len(text) // sample.page_size))
    page = min(sample.page, pages - 1)
    start = page * sample.page_size
    shown = f"{text[start : start + sample.page_size]}\n[Page {page + 1} of {pages}]"
    return shown if page + 1 == pages else f"{shown} Use page={page + 1} to see more."


def titles_of(produced: Sequence[ProducedFile], title: str) -> list[str]:
    """Return the titles of the attachments: the model's title, numbered if necessary, or the file
    names.
    """
    if not title:
        return [item.name for item in produced]
    if len(produced) == 1:
        return [title]
    return [f"{title} ({number})" for number in range(1, len(produced) + 1)]


async def store_produced_file(item: ProducedFile, title: str, opening: Opening) -> Attachment:
    """Store a file for the caller, or embed it in the answer if the caller has no file storage.
    Raises `FileRefused` if it cannot be stored.
    """
    if not opening.caller.bucket and len(item.content) <= MOST_INLINE_BYTES:
        return Attachment(type=item.type, title=title, data=inline(item))
    info = await store_file(stored_name(item, title), item.content, item.type, opening)
    return Attachment(type=item.type, title=title, url=info.path)


def inline(item: ProducedFile) -> str:
    if item.type.startswith("image/"):
        return base64.b64encode(item.content).decode()
    return item.content.decode("utf-8", "replace")


def stored_name(item: ProducedFile, title: str) -> str:
    """Return a unique file name, so that earlier files are not overwritten."""
    ending = ENDING_OF[item.type]
    stem = (item.name or title or "output").removesuffix(ending)
    safe = _unsafe.sub("_", stem).strip("._")[:60] or "output"
    return f"{safe}-{secrets.token_hex(4)}{ending}"
