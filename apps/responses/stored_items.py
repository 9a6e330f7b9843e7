"""Converts input items to their stored format. An item's ID contains the ID of its response."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from apps.doors.client_conversation import ChatMessage, Object
from apps.responses.output_items import PREFIXES

FIRST_INPUT = 0x8000
"""The number of the first input item. Output items are numbered from 1."""
RESPONSE_ID = re.compile(r"resp_([0-9a-f]{32})", re.ASCII)
CONVERSATION_ID = re.compile(r"conv_([0-9a-f]{32})", re.ASCII)
ITEM_ID = re.compile(r"[a-z]{1,10}_([0-9a-f]{32})[0-9a-f]{4}", re.ASCII)


def read_id(form: re.Pattern[str], written: str) -> UUID | None:
    found = form.fullmatch(written)
    return UUID(found[1]) if found else None


def stored_input(response: UUID, written: str | Sequence[Object]) -> list[Object]:
    """Return a request's input as items that have a type, an ID and a list of content parts."""
    if isinstance(written, str):
        written = [{"role": "user", "content": written}]
    return [
        stored_item(item, f"{response.hex}{FIRST_INPUT + index:04x}")
        for index, item in enumerate(written)
    ]


def stored_item(item: Object, number: str) -> Object:
    kind = item.get("type") or "message"
    found = {**item, "type": kind, "id": f"{PREFIXES.get(kind, 'item')}_{number}"}
    if kind == "message" and isinstance(item.get("content"), str):
        part = "output_text" if item.get("role") == "assistant" else "input_text"
        extra: Object = {"annotations": []} if part == "output_text" else {}
        found["content"] = [{"type": part, "text": item["content"], **extra}]
    if kind != "reasoning":
        found.setdefault("status", "completed")
    return found


# --- For the page -----------------------------------------------------------------------------


def shown_question(messages: Sequence[ChatMessage]) -> tuple[str, list[dict[str, str]]]:
    """Return the text and the files of the messages after the last answer, which the chat page
    shows as the question.
    """
    answers = [index for index, one in enumerate(messages) if one.role == "assistant"]
    new = messages[answers[-1] + 1 if answers else 0 :]
    texts = [shown_text(one) for one in new if one.role in ("user", "tool")]
    files = [file for one in new for file in (one.custom_content or {}).get("attachments", ())]
    shown = [
        {name: str(file[name]) for name in ("type", "title", "url") if file.get(name)}
        for file in files
        if file.get("url")
    ]
    return "\n\n".join(filter(None, texts)), shown


def shown_text(message: ChatMessage) -> str:
    content = message.content
    parts: Any = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    text = "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")
    return f"[Result of the tool call]\n{text}" if message.role == "tool" else text
