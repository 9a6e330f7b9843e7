"""What a model sees: a request by its layers and messages, as people read it.

It is made of the bytes of a request, of any of the APIs that models are asked through.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from apps.agent.estimate import CHARACTERS_PER_TOKEN, text_tokens
from apps.agent.records import size_of
from apps.live.sent_request_rows import SentRequestRow
from apps.live.sent_requests import KeptPart

SEPARATOR = "\n\n"
"""Between two layers of the system prompt."""
CALLS = ("arguments", "input")
"""Where the APIs write the arguments of a call."""
RESULTS = ("content", "output")
"""Where they write its result."""
IDS = ("tool_call_id", "tool_use_id", "call_id")
"""By which a result names its call."""

Span = tuple[str, str, int]
"""Layer, source and length, as in `PromptSpan`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`tokens` is an estimate for the whole text; `is_cut`: only its beginning is kept."""

    layer: str
    source: str
    text: str
    tokens: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RequestView:
    """One request: `prompt` are the layers of the system prompt; `parameters` are JSON."""

    application: str
    model: str
    at: datetime | None
    prompt: tuple[Piece, ...]
    messages: tuple[Piece, ...]
    tools: tuple[Piece, ...]
    parameters: str

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in (*self.prompt, *self.messages, *self.tools))


@dataclass(frozen=True, slots=True)
class Written:
    """A message or a tool as it was sent: its JSON, None of one that is cut, and its text."""

    value: Any
    text: str
    size: int


def view_of(
    row: SentRequestRow, parts: Mapping[str, KeptPart], *, withholds_private: bool = False
) -> RequestView:
    """`withholds_private`: of private calls only their length is shown."""
    lists = {key: [*written(value, parts)] for key, form, value in row.members if form != "value"}
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
        tuple(prompt_pieces(first, row.prompt)),
        tuple(map(message_piece, without_private(messages, private))),
        tuple(map(tool_piece, tools)),
        json.dumps(values, indent=2, ensure_ascii=False),
    )


def written(digests: str | Sequence[str], parts: Mapping[str, KeptPart]) -> Iterator[Written]:
    for digest in [digests] if isinstance(digests, str) else digests:
        part = parts.get(digest)
        if part is None:
            yield Written(None, "", 0)
        elif part.size > len(part.text.encode()):
            yield Written(None, part.text, part.size)
        else:
            yield Written(json.loads(part.text), part.text, part.size)


# --- The system prompt ----------------------------------------------------------------------------


def is_system(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") == "system"


def prompt_pieces(first: Iterable[Written], spans: Iterable[Sequence[Any]]) -> Iterator[Piece]:
    """The layers of the system prompt; one piece where it was changed after it was composed."""
    text = SEPARATOR.join(text_of(one) for one in first)
    layers: list[Span] = [(layer, source, length) for layer, source, length in spans]
    whole = sum(length for *_, length in layers) + len(SEPARATOR) * (len(layers) - 1)
    if not text:
        return
    if whole != len(text):
        layers = [("system", "system prompt", len(text))]
    start = 0
    for layer, source, length in layers:
        part = text[start : start + length]
        yield Piece(layer, source, part, text_tokens(part))
        start += length + len(SEPARATOR)


# --- Messages and tools ---------------------------------------------------------------------------


def text_of(one: Written) -> str:
    """The text of a message that has nothing else, else its JSON."""
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


def message_piece(one: Written) -> Piece:
    value = one.value if isinstance(one.value, dict) else {}
    source = str(value.get("role") or value.get("type") or "message")
    return piece_of("conversation", source, one)


def tool_piece(one: Written) -> Piece:
    value = one.value if isinstance(one.value, dict) else {}
    function = value.get("function")
    named = function if isinstance(function, dict) else value
    return piece_of("tools", str(named.get("name") or value.get("type") or "tool"), one)


def piece_of(layer: str, source: str, one: Written) -> Piece:
    text = text_of(one)
    is_cut = one.value is None and one.size > 0
    # Of one that is cut, the rest counts too.
    tokens = one.size // CHARACTERS_PER_TOKEN if is_cut else text_tokens(text)
    return Piece(layer, source, text, tokens, is_cut)


# --- Private calls --------------------------------------------------------------------------------


def without_private(messages: Sequence[Written], names: frozenset[str]) -> Sequence[Written]:
    """The messages with the sizes of what calls of these tools say, and their results."""
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
        key: size_of(member if isinstance(member, str) else json.dumps(member))
        if key in hidden
        else withheld(member, names, ids)
        for key, member in value.items()
    }
