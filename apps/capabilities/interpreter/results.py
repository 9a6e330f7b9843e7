"""What the model reads of an execution, and the attachments that it brought."""

import base64
import re
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.capabilities.interpreter.engines import ENDING_OF, TEXTS, Execution, Produced
from apps.capabilities.interpreter.requests import DataSample, Request
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.texts import fenced
from apps.errors import FileRefused

AS_ATTACHMENT = "Content will be presented as attachment"
CONTENT_TYPE = "application/json"
MOST_INLINE_BYTES = 512 * 1024
"""Of an attachment that travels within the answer, because nobody owns files."""

_unsafe = re.compile(r"[^\w.-]+", re.ASCII)


async def result_of(execution: Execution, request: Request, opening: Opening) -> ToolResult:
    """Keep what was produced and write the rest as JSON in a fence."""
    titles = titles_of(execution.produced, (request.display_title or "").strip())
    attachments: list[Attachment] = []
    notes = list(execution.notes)
    for item, title in zip(execution.produced, titles, strict=True):
        try:
            attachments.append(await keep(item, title, opening))
        except FileRefused as error:
            notes.append(f"{item.name or item.type} could not be kept: {error}")
    dumped = dump(execution, request.sample, notes)
    return ToolResult(fenced(dumped, "json"), CONTENT_TYPE, attachments=tuple(attachments))


def dump(execution: Execution, sample: DataSample | None, notes: Sequence[str]) -> str:
    written: dict[str, Any] = {
        "status": execution.status,
        "result": paged(execution.result, sample),
        "stdout": paged(execution.stdout, sample),
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


def paged(text: str, sample: DataSample | None) -> str:
    """One page of the text; a page past the last is the last."""
    if sample is None:
        return text
    pages = max(1, -(-len(text) // sample.page_size))
    page = min(sample.page, pages - 1)
    start = page * sample.page_size
    shown = f"{text[start : start + sample.page_size]}\n[Page {page + 1} of {pages}]"
    return shown if page + 1 == pages else f"{shown} Use page={page + 1} to see more."


def titles_of(produced: Sequence[Produced], title: str) -> list[str]:
    """The title the model chose, numbered when there are several; else the files' own names."""
    if not title:
        return [item.name for item in produced]
    if len(produced) == 1:
        return [title]
    return [f"{title} ({number})" for number in range(1, len(produced) + 1)]


async def keep(item: Produced, title: str, opening: Opening) -> Attachment:
    """A file of the caller's; without an owner it travels in the answer. Raises `FileRefused`."""
    if not opening.caller.bucket and len(item.content) <= MOST_INLINE_BYTES:
        return Attachment(type=item.type, title=title, data=inline(item))
    info = await opening.workspace.files.keep(stored_name(item, title), item.content, item.type)
    return Attachment(type=item.type, title=title, url=info.path)


def inline(item: Produced) -> str:
    if item.type.startswith("image/"):
        return base64.b64encode(item.content).decode()
    return item.content.decode("utf-8", "replace")


def stored_name(item: Produced, title: str) -> str:
    """A name of its own: what an earlier call made stays as it is."""
    ending = ENDING_OF[item.type]
    stem = (item.name or title or "output").removesuffix(ending)
    safe = _unsafe.sub("_", stem).strip("._")[:60] or "output"
    return f"{safe}-{secrets.token_hex(4)}{ending}"
