"""Splits a stored model request into prompt layers, messages and tools for operators. Supports the
request formats of all model APIs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from apps.agent.context.token_estimates import CHARACTERS_PER_TOKEN, text_tokens
from apps.agent.records import describe_size
from apps.live.history.sent_requests import StoredPart
from apps.live.sent_request_rows import SentRequestRow

SEPARATOR = "\n\n"
"""The separator between the layers of the system prompt."""
CALLS = ("arguments", "input")
"""The keys of a tool call's arguments in the supported APIs."""
RESULTS = ("content", "output")
"""The keys of a tool call's result in the supported APIs."""
IDS = ("tool_call_id", "tool_use_id", "call_id")
"""The keys of the call's ID in a tool's result, in the supported APIs."""

Span = tuple[str, str, int]
"""The layer, source and length in characters of one part of the system prompt, as in `PromptSpan`.
"""


@dataclass(frozen=True, slots=True)
class RequestPart:
    """A prompt layer, message or tool in a model request."""

    layer: str
    source: str
    text: str
    tokens: int
    """The estimated number of tokens in the whole text, even if `is_cut`."""
    is_cut: bool = False
    """True if only the beginning of the text was stored."""


@dataclass(frozen=True, slots=True)
class RequestView:
    """A model request as operators see it."""

    application: str
    model: str
    at: datetime | None
    prompt: tuple[RequestPart, ...]
    messages: tuple[RequestPart, ...]
    tools: tuple[RequestPart, ...]
    parameters: str
    """All other fields of the request, as JSON."""

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in (*self.prompt, *self.messages, *self.tools))


@dataclass(frozen=True, slots=True)
class WrittenMessage:
    """A message or tool in a stored model request."""

    value: Any
    """The JSON value, or None if the text was truncated."""
    text: str
    size: int
    """The size in bytes before truncation."""


def view_of(
    row: SentRequestRow, parts: Mapping[str, StoredPart], *, withholds_private: bool = False
) -> RequestView:
    """Return the view of a stored request for operators. `parts` maps digests to the request's
    messages and tools. With `withholds_private`, the arguments and results of private tools are
    replaced by their lengths.
    """
    lists = {
        key: [*written_messages(value, parts)]
        for key, form, value in row.members
        if form != "value"
    }
    instructions = lists.pop("instructions", [])
    tools = lists.pop("tools", [])
    first = [*instructions, *lists.pop("system", [])]
    messages = [one for found in lists.values() for one in found]
    while messages and is_system(messages[0].value):
        first.append(messages.pop(0))
    private = frozenset(row.private) if withholds_private else frozenset[str]()
    values = {key: value for key, form, value in row.members if form == "value"}
    return RequestView(
        row.application,
        row.model,
        row.at,
        tuple(prompt_parts(first, row.prompt)),
        tuple(map(message_part, without_private(messages, private))),
        tuple(map(tool_part, tools)),
        json.dumps(values, indent=2, ensure_ascii=False),
    )


def written_messages(
    digests: str | Sequence[str], parts: Mapping[str, StoredPart]
) -> Iterator[WrittenMessage]:
    for digest in [digests] if isinstance(digests, str) else digests:
        part = parts.get(digest)
        if part is None:
            yield WrittenMessage(None, "", 0)
        elif part.size > len(part.text.encode()):
            yield WrittenMessage(None, part.text, part.size)
        else:
            yield WrittenMessage(json.loads(part.text), part.text, part.size)


# --- The system prompt ----------------------------------------------------------------------------


def is_system(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") == "system"


def prompt_parts(
    first: Iterable[WrittenMessage], spans: Iterable[Sequence[Any]]
) -> Iterator[RequestPart]:
    """Yield the layers of the system prompt. If the prompt was changed after it was built from
    layers, yield it as one part.
    """
    text = SEPARATOR.join(message_text(one) for one in first)
    layers: list[Span] = [(layer, source, length) for layer, source, length in spans]
    whole = sum(length for *_, length in layers) + len(SEPARATOR) * (len(layers) - 1)
    if not text:
        return
    if whole != len(text):
        layers = [("system", "system prompt", len(text))]
    start = 0
    for layer, source, length in layers:
        part = text[start : start + length]
        yield RequestPart(layer, source, part, text_tokens(part))
        start += length + len(SEPARATOR)


# --- Messages and tools ---------------------------------------------------------------------------


def message_text(one: WrittenMessage) -> str:
    """Return the text of a message, or its JSON if it has other content."""
    value = one.value
    if value is None:
        return one.text
    if isinstance(value, dict) and value.keys() <= {"role", "content", "custom_fields"}:
        value = value["content"]
    if isinstance(value, list) and all(map(is_text, value)):
        return "\n".join(part["text"] for part in value)
    if is_text(value):
        return str(value["text"])
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def is_text(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") in ("text", "input_text", "output_text")
        and isinstance(value.get("text"), str)
    )


def message_part(one: WrittenMessage) -> RequestPart:
    value = one.value if isinstance(one.value, dict) else {}
    source = str(value.get("role") or value.get("type") or "message")
    return part_of("conversation", source, one)


def tool_part(one: WrittenMessage) -> RequestPart:
    value = one.value if isinstance(one.value, dict) else {}
    function = value.get("function")
    named = function if isinstance(function, dict) else value
    return part_of("tools", str(named.get("name") or value.get("type") or "tool"), one)


def part_of(layer: str, source: str, one: WrittenMessage) -> RequestPart:
    text = message_text(one)
    is_cut = one.value is None and one.size > 0
    # The part that was not stored counts too.
    tokens = one.size // CHARACTERS_PER_TOKEN if is_cut else text_tokens(text)
    return RequestPart(layer, source, text, tokens, is_cut)


# --- Private calls --------------------------------------------------------------------------------


def without_private(
    messages: Sequence[WrittenMessage], names: frozenset[str]
) -> Sequence[WrittenMessage]:
    """Return the messages with the arguments and results of the tools in `names` replaced by their
    lengths.
    """
    if not names:
        return messages
    ids = {found for one in messages for found in private_ids(one.value, names)}
    return [replace(one, value=withheld(one.value, names, ids)) for one in messages]


def private_ids(value: Any, names: frozenset[str]) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from private_ids(item, names)
    elif isinstance(value, dict):
        function = value.get("function")
        called = function if isinstance(function, dict) else value
        if called.get("name") in names:
            yield str(value.get("call_id") or value.get("id") or "")
        for member in value.values():
            yield from private_ids(member, names)


def withheld(value: Any, names: frozenset[str], ids: set[str]) -> Any:
    if isinstance(value, list):
        return [withheld(item, names, ids) for item in value]
    if not isinstance(value, dict):
        return value
    hidden: tuple[str, ...] = CALLS if value.get("name") in names else ()
    if any(value.get(key) in ids for key in IDS):
        hidden += RESULTS
    return {
        key: describe_size(member if isinstance(member, str) else json.dumps(member))
        if key in hidden
        else withheld(member, names, ids)
        for key, member in value.items()
    }
