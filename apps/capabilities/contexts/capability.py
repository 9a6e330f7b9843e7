"""Lists the operator's files for the model, at the start of a conversation and after changes."""

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal

import msgspec
from django.utils.translation import gettext_lazy

from apps.agent.injection import Injection, pair
from apps.agent.messages import ModelMessage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.contexts.entries import ContextEntry, ListedEntries, available, has_files
from apps.capabilities.registry import (
    Capability,
    Contribution,
    HistoryStep,
    Open,
    Opening,
    only_after,
)
from apps.capabilities.wrappers.internal import PlatformTool, internal_tool, parameters, show_result
from apps.capabilities.wrappers.value_texts import fence_code
from apps.manifest.manifest import Manifest

DESCRIPTION = (
    "Lists the files that the operator of this application made available, with their URLs. "
    "It is called for you whenever they change."
)
TOOL_NAME = "internal_attachments_available_context"
DISCLAIMER = (
    "These files were made available by the operator of this application; the user did not send "
    "them and may not know of them. Do not infer their content from their names: read a file "
    "with a tool that accepts its URL before you rely on it. Never use entries with the status "
    "'removed'."
)
LEFT_OUT = " There are {} more entries, which are not listed."

Status = Literal["new", "updated", "removed"]


class ListedEntry(msgspec.Struct, omit_defaults=True, frozen=True):
    """A file or folder in a listing."""

    title: str
    url: str
    type: str
    description: str | None = None
    status: Status | None = None
    """The change since the previous listing, or None if there is none."""


class FileListing(msgspec.Struct):
    entries: list[ListedEntry]
    disclaimer: str = ""


_decoder = msgspec.json.Decoder(FileListing)


def announcement_step(available: ListedEntries) -> HistoryStep:
    """Return a history step that lists the files if they changed since the conversation's last
    listing.
    """

    async def announce(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        entries = compare(last_listed(messages), available)
        if not any(entry.status for entry in entries):
            return messages
        content = encode_entries(entries, available)
        said = Injection(TOOL_NAME, {}, content, "always")
        return (*messages, *pair(said, new_id(messages, content), content))

    return announce


def is_announced(messages: Sequence[ModelMessage]) -> bool:
    return any(
        call.name == TOOL_NAME
        for message in messages
        if message.tool_calls
        for call in message.tool_calls
    )


def listing(messages: Sequence[ModelMessage], available: ListedEntries) -> str:
    """Return all entries as JSON, each with its change since the conversation's last listing."""
    return encode_entries(compare(last_listed(messages), available), available)


def encode_entries(entries: Sequence[ListedEntry], available: ListedEntries) -> str:
    left_out = LEFT_OUT.format(available.left_out) if available.left_out else ""
    return msgspec.json.encode(FileListing(list(entries), f"{DISCLAIMER}{left_out}")).decode()


def compare(before: Mapping[str, ListedEntry], available: ListedEntries) -> list[ListedEntry]:
    """Return the available entries, then the removed entries, each with its change since `before`.

    Entries below a folder that could not be listed are assumed to be present.
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


def compared_entry(entry: ContextEntry, before: ListedEntry | None) -> ListedEntry:
    status: Status | None = None
    if before is None:
        status = "new"
    elif (before.type, before.description) != (entry.type, entry.description):
        status = "updated"
    return ListedEntry(entry.title, entry.url, entry.type, entry.description, status)


def last_listed(messages: Sequence[ModelMessage]) -> Mapping[str, ListedEntry]:
    """Return the entries of the conversation's newest readable listing, by URL, without removed
    entries.
    """
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


def listings(messages: Sequence[ModelMessage]) -> Iterator[str]:
    if not is_announced(messages):
        return
    ids = {call.id for m in messages for call in m.tool_calls if call.name == TOOL_NAME}
    for message in reversed(messages):
        if message.role == "tool" and message.tool_call_id in ids:
            yield message.text


def new_id(messages: Sequence[ModelMessage], content: str) -> str:
    earlier = sum(call.name == TOOL_NAME for message in messages for call in message.tool_calls)
    text = f"{earlier} {content}".encode("utf-8", "surrogatepass")
    return f"synthetic_{hashlib.sha256(text).hexdigest()[:12]}"


def prepare(manifest: Manifest) -> Open:
    declared = PlatformTool(
        TOOL_NAME,
        DESCRIPTION,
        parameters({}),
        gettext_lazy("Available files"),
        "read-only",
        is_system=True,
    )
    tool = internal_tool(manifest, declared, partial(list_available, manifest))

    @asynccontextmanager
    async def open_contexts(opening: Opening) -> AsyncIterator[Contribution]:
        found = await available(manifest, opening)
        yield Contribution(
            (tool.bind(opening),), history=(announcement_step(found),), issues=found.issues
        )

    # Even if there are no files now, the model must learn that the files in an earlier listing have
    # been removed.
    return open_contexts if has_files(manifest) else only_after(TOOL_NAME, open_contexts)


async def list_available(
    manifest: Manifest, opening: Opening, invocation: Invocation
) -> ToolResult:
    text = listing(invocation.messages, await available(manifest, opening))
    show_result(invocation, fence_code(text, "json"))
    return ToolResult(text, content_type="application/json")


SERVES = frozenset({"contexts.file", "contexts.folder", f"tool_sets.internal.{TOOL_NAME}"})
contexts = Capability("contexts", SERVES, prepare)
