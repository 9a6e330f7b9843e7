"""What the model is told of the operator's files, and what has changed since it was told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from apps.agent.injection import Injection, pair
from apps.agent.messages import Message
from apps.capabilities.contexts.entries import Available, Entry
from apps.capabilities.registry import HistoryStep

TOOL_NAME = "internal_attachments_available_context"
DISCLAIMER = (
    "These files were made available by the operator of this application; the user did not send "
    "them and may not know of them. Their names do not tell what is in them: read a file with a "
    "tool that takes its URL before you rely on it. Never use entries with the status 'removed'."
)
LEFT_OUT = " There are {} more entries, which are not listed."

Status = Literal["new", "updated", "removed"]


class Told(msgspec.Struct, omit_defaults=True, frozen=True):
    """An entry as it is written; without a status it is as it was told before."""

    title: str
    url: str
    type: str
    description: str | None = None
    status: Status | None = None


class Listing(msgspec.Struct):
    entries: list[Told]
    disclaimer: str = ""


_decoder = msgspec.json.Decoder(Listing)


def announcing(available: Available) -> HistoryStep:
    """A step that ends the conversation with what has changed, if anything has."""

    async def announce(messages: Sequence[Message]) -> Sequence[Message]:
        listed = compare(last_told(messages), available)
        if not any(entry.status for entry in listed):
            return messages
        content = written(listed, available)
        said = Injection(TOOL_NAME, {}, content, "always")
        return (*messages, *pair(said, new_id(messages, content), content))

    return announce


def was_told(messages: Sequence[Message]) -> bool:
    return any(
        call.name == TOOL_NAME
        for message in messages
        if message.tool_calls
        for call in message.tool_calls
    )


def listing(messages: Sequence[Message], available: Available) -> str:
    """All entries as JSON, with what has changed since the newest listing of the conversation."""
    return written(compare(last_told(messages), available), available)


def written(entries: Sequence[Told], available: Available) -> str:
    left_out = LEFT_OUT.format(available.left_out) if available.left_out else ""
    return msgspec.json.encode(Listing(list(entries), f"{DISCLAIMER}{left_out}")).decode()


def compare(before: Mapping[str, Told], available: Available) -> list[Told]:
    """What is there now, then what is gone, which is told once.

    Of a folder that cannot be listed now, nothing is known to be gone.
    """
    now = {entry.url for entry in available.entries}
    rest = [told for told in before.values() if told.url not in now]
    return [
        *(tell(entry, before.get(entry.url)) for entry in available.entries),
        *(
            told
            if told.url.startswith(available.unread)
            else msgspec.structs.replace(told, status="removed")
            for told in rest
        ),
    ]


def tell(entry: Entry, before: Told | None) -> Told:
    status: Status | None = None
    if before is None:
        status = "new"
    elif (before.type, before.description) != (entry.type, entry.description):
        status = "updated"
    return Told(entry.title, entry.url, entry.type, entry.description, status)


def last_told(messages: Sequence[Message]) -> Mapping[str, Told]:
    """The newest listing that can be read, without what was gone then; by URL."""
    for text in results(messages):
        try:
            found = _decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        return {
            told.url: msgspec.structs.replace(told, status=None)
            for told in found.entries
            if told.status != "removed"
        }
    return {}


def results(messages: Sequence[Message]) -> Iterator[str]:
    """What the tool brought, the newest first."""
    if not was_told(messages):
        return
    ids = {call.id for m in messages for call in m.tool_calls if call.name == TOOL_NAME}
    for message in reversed(messages):
        if message.role == "tool" and message.tool_call_id in ids:
            yield message.text


def new_id(messages: Sequence[Message], content: str) -> str:
    """Made of what is said, and of how often something was said before."""
    earlier = sum(call.name == TOOL_NAME for message in messages for call in message.tool_calls)
    text = f"{earlier} {content}".encode("utf-8", "surrogatepass")
    return f"synthetic_{hashlib.sha256(text).hexdigest()[:12]}"
