"""Listings of the operator's files for the model, with the changes since the last one."""

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


class ListedEntry(msgspec.Struct, omit_defaults=True, frozen=True):
    """`status` is None for an entry that has not changed since the last listing."""

    title: str
    url: str
    type: str
    description: str | None = None
    status: Status | None = None


class FileListing(msgspec.Struct):
    entries: list[ListedEntry]
    disclaimer: str = ""


_decoder = msgspec.json.Decoder(FileListing)


def announcement_step(available: Available) -> HistoryStep:
    """A step that appends a listing to the conversation if anything has changed."""

    async def announce(messages: Sequence[Message]) -> Sequence[Message]:
        entries = compare(last_listed(messages), available)
        if not any(entry.status for entry in entries):
            return messages
        content = encoded(entries, available)
        said = Injection(TOOL_NAME, {}, content, "always")
        return (*messages, *pair(said, new_id(messages, content), content))

    return announce


def is_announced(messages: Sequence[Message]) -> bool:
    return any(
        call.name == TOOL_NAME
        for message in messages
        if message.tool_calls
        for call in message.tool_calls
    )


def listing(messages: Sequence[Message], available: Available) -> str:
    """All entries as JSON, with the changes since the last listing of the conversation."""
    return encoded(compare(last_listed(messages), available), available)


def encoded(entries: Sequence[ListedEntry], available: Available) -> str:
    left_out = LEFT_OUT.format(available.left_out) if available.left_out else ""
    return msgspec.json.encode(FileListing(list(entries), f"{DISCLAIMER}{left_out}")).decode()


def compare(before: Mapping[str, ListedEntry], available: Available) -> list[ListedEntry]:
    """The present entries, then the removed ones.

    Entries below a folder that could not be listed count as present.
    """
    now = {entry.url for entry in available.entries}
    rest = [entry for entry in before.values() if entry.url not in now]
    return [
        *(compared_entry(entry, before.get(entry.url)) for entry in available.entries),
        *(
            entry
            if entry.url.startswith(available.unread)
            else msgspec.structs.replace(entry, status="removed")
            for entry in rest
        ),
    ]


def compared_entry(entry: Entry, before: ListedEntry | None) -> ListedEntry:
    status: Status | None = None
    if before is None:
        status = "new"
    elif (before.type, before.description) != (entry.type, entry.description):
        status = "updated"
    return ListedEntry(entry.title, entry.url, entry.type, entry.description, status)


def last_listed(messages: Sequence[Message]) -> Mapping[str, ListedEntry]:
    """The newest readable listing, without removed entries, by URL."""
    for text in listings(messages):
        try:
            found = _decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        return {
            entry.url: msgspec.structs.replace(entry, status=None)
            for entry in found.entries
            if entry.status != "removed"
        }
    return {}


def listings(messages: Sequence[Message]) -> Iterator[str]:
    if not is_announced(messages):
        return
    ids = {call.id for m in messages for call in m.tool_calls if call.name == TOOL_NAME}
    for message in reversed(messages):
        if message.role == "tool" and message.tool_call_id in ids:
            yield message.text


def new_id(messages: Sequence[Message], content: str) -> str:
    earlier = sum(call.name == TOOL_NAME for message in messages for call in message.tool_calls)
    text = f"{earlier} {content}".encode("utf-8", "surrogatepass")
    return f"synthetic_{hashlib.sha256(text).hexdigest()[:12]}"
