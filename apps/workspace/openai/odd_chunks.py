"""Converts events that deviate from OpenAI's API to chunks of this API.

Only events that do not fit `StreamChunk` are converted here, so that parsing ordinary events
remains fast. Parts that cannot be parsed are omitted, and their shapes are logged.
"""

import json
import logging
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from apps.agent.model import UNNUMBERED
from apps.errors import ModelFailed
from apps.process_state import on_reset
from apps.workspace.openai.chunks import MOST_TOKENS
from apps.workspace.openai.wire import (
    CallPart,
    ChoiceDelta,
    ChunkChoice,
    CustomContent,
    FunctionPart,
    Statistics,
    StreamChunk,
    TokenCounts,
)
from apps.workspace.services.event_stream import is_keep_alive
from apps.workspace.services.failures import failure_in_stream, is_filled
from apps.workspace.services.halves import decode_leniently, whole
from apps.workspace.services.json_shapes import shape_of

logger = logging.getLogger(__name__)

THOUGHTS = frozenset({"thinking", "reasoning", "reasoning_text", "reasoning.text", "thought"})
"""The types of content parts that are a model's reasoning."""
TEXTS = ("text", "thinking", "reasoning", "content", "value", "summary")
"""The keys under which parts contain their text."""
REASONS = ("finish_reason", "type", "reason", "value")
SILENT_KEYS = frozenset(
    {
        "role", "name", "content", "reasoning_content", "reasoning", "thinking", "thought",
        "reasoning_details", "provider_specific_fields", "custom_fields", "token_ids",
    }
)  # fmt: skip
"""The keys of a delta that contain no content, or that other functions examine."""
MOST_NESTED = 8
CALL_KEYS = frozenset({"function", "name", "id", "index"})

T = TypeVar("T")


def read_odd_chunks(payload: bytes, *, takes_messages: bool) -> list[StreamChunk]:
    """Return the chunks in an event. Services that send no blank lines put several chunks into one
    event.

    A `message` in place of a `delta` counts as a chunk only if `takes_messages` is True, because
    some services repeat the whole answer at its end. Raises `ModelFailed` if the event cannot be
    parsed.
    """
    try:
        events = [decode_leniently(payload)]
    except (ValueError, RecursionError) as error:
        lines = [line for line in payload.split(b"\n") if line.strip() != b"[DONE]"]
        lines = [line for line in lines if not is_keep_alive(line)]
        if len(lines) < 2:
            raise ModelFailed(
                "The model's service sent an event that is not JSON.", reason="unreadable"
            ) from error
        return [
            chunk
            for line in lines
            for chunk in read_odd_chunks(line, takes_messages=takes_messages)
        ]
    try:
        return [standard_chunk(event, takes_messages=takes_messages) for event in events]
    except RecursionError as error:
        raise unreadable("nested") from error


def standard_chunk(event: Any, *, takes_messages: bool) -> StreamChunk:
    """Convert an event to a chunk. Raises `ModelFailed` if the event does not belong to this API."""
    if isinstance(event, list) and len(event) == 1:
        event = event[0]
    if not isinstance(event, Mapping):
        raise unreadable(event)
    choices = listed(event.get("choices"))
    if not all(isinstance(one, Mapping) for one in choices):
        raise unreadable(event)
    return StreamChunk(
        [standard_choice(one, takes_messages=takes_messages) for one in choices],
        standard_counts(event.get("usage")),
        converted(event.get("statistics"), Statistics, "the statistics"),
        tidy(event.get("error")),
    )


def answer_unread(shape: str) -> ModelFailed:
    return ModelFailed(
        f"The model's service sent an unreadable response: {shape}",
        reason="unreadable",
    )


def missed_shape(payload: bytes) -> str:
    """Return the shape of an event if it has content that the answer's deltas do not contain,
    otherwise "".
    """
    try:
        event = decode_leniently(payload)
        choices = [one for one in listed(event.get("choices")) if isinstance(one, Mapping)]
        is_missed = any(has_unread(one.get(key)) for one in choices for key in ("delta", "message"))
    except (ValueError, AttributeError, RecursionError):
        return ""
    return shape_of(event) if is_missed else ""


def has_unread(delta: Any) -> bool:
    if not isinstance(delta, Mapping):
        return False
    parts = listed(delta.get("content"))
    return any(text_in(part) is None and is_filled(part) for part in parts) or any(
        is_filled(value) for key, value in delta.items() if key not in SILENT_KEYS
    )


def unreadable(event: Any) -> ModelFailed:
    return ModelFailed(
        f"The model's service sent an unreadable event: {shape_of(event)}",
        reason="unreadable",
    )


def standard_choice(written: Mapping[str, Any], *, takes_messages: bool) -> ChunkChoice:
    said = standard_delta(written.get("delta"))
    if takes_messages and not any(structs.astuple(said)):
        said = standard_delta(written.get("message"))
    if (
        written.get("delta") is None
        and not any(structs.astuple(said))
        and isinstance(written.get("text"), str)
    ):
        said = ChoiceDelta(written["text"])  # Text completions have this form.
    reason = standard_reason(written.get("finish_reason"))
    if is_filled(written.get("error")) or reason == "error":
        raise failure_in_stream(msgspec.json.encode({"error": tidy(written.get("error"))}))
    return ChunkChoice(
        said,
        reason,
        tidy(written.get("logprobs")),
        whole_number(written.get("index")) or 0,
    )


def standard_delta(written: Any) -> ChoiceDelta:
    if not isinstance(written, Mapping):
        written = {"content": written}
    texts: list[str] = []
    thoughts: list[str] = []
    for part in listed(written.get("content")):
        read_part(part, texts, thoughts)
    refusal = written.get("refusal")
    return ChoiceDelta(
        "".join(texts) or None,
        list(standard_calls(written)) or None,
        converted(written.get("custom_content"), CustomContent, "custom_content"),
        tidy(written.get("custom_fields")),
        text_in(refusal) if refusal else None,
        text_in(written.get("reasoning_content")),
        text_in(written.get("reasoning")),
        text_in(written.get("thinking")),
        "".join(thoughts) or text_in(written.get("thought")),
        reasoning_details=tidy(written.get("reasoning_details")),
    )


def read_part(part: Any, texts: list[str], thoughts: list[str]) -> None:
    """Add the text of a content part to `texts` or `thoughts`. The part is a string, or an object
    with a type.
    """
    if isinstance(part, (int, float)) and not isinstance(part, bool):
        part = str(part)
    text = text_in(part)
    if text is None:
        if part is not None:
            log_unread("a part of the content", part)
        return
    is_thought = isinstance(part, Mapping) and (
        part.get("type") in THOUGHTS or part.get("thought") is True
    )
    (thoughts if is_thought else texts).append(text)


def text_in(value: Any, depth: int = 0) -> str | None:
    """Return the text in a JSON value of any type, at any depth, or None if there is none."""
    if isinstance(value, str):
        return value
    if depth > MOST_NESTED:
        return None
    found: list[str | None] = []
    if isinstance(value, list):
        found = [text_in(item, depth + 1) for item in value]
    elif isinstance(value, Mapping):
        found = [text_in(value.get(key), depth + 1) for key in TEXTS]
    texts = [text for text in found if text is not None]
    if isinstance(value, Mapping):
        texts = texts[:1]
    return "".join(texts) if texts else None


def standard_calls(delta: Mapping[str, Any]) -> Iterator[CallPart]:
    written = delta.get("tool_calls")
    if written is None and delta.get("function_call") is not None:
        written = {"index": 0, "function": delta["function_call"]}
    if isinstance(written, Mapping) and not written.keys() & CALL_KEYS:
        written = [
            {"index": number, **call} if isinstance(call, Mapping) else call
            for number, call in written.items()
        ]
    for call in listed(written):
        if isinstance(call, Mapping):
            yield standard_call(call)
        elif call is not None:
            log_unread("a tool call", call)


def standard_call(written: Mapping[str, Any]) -> CallPart:
    index = whole_number(written.get("index"))
    function = written.get("function")
    if not isinstance(function, Mapping):
        name = written.get("name", function)
        function = {"name": name, "arguments": written.get("arguments")}
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return CallPart(
        UNNUMBERED if index is None else index,
        plain_text(written.get("id")),
        FunctionPart(plain_text(function.get("name")), arguments),
    )


def standard_reason(written: Any) -> str | None:
    if isinstance(written, Mapping):
        written = next((written[key] for key in REASONS if written.get(key)), None)
    if written is not None and not isinstance(written, str):
        log_unread("the finish reason", written)
        return None
    return written


def standard_counts(written: Any) -> TokenCounts | None:
    if not isinstance(written, Mapping):
        return None
    return TokenCounts(
        plain_text(written.get("model")) or "",
        whole_number(written.get("prompt_tokens")) or 0,
        whole_number(written.get("completion_tokens")) or 0,
        tidy(written.get("prompt_tokens_details")),
        tidy(written.get("completion_tokens_details")),
    )


def converted(written: Any, kind: type[T], what: str) -> T | None:
    if written is None:
        return None
    try:
        return msgspec.convert(tidy(written), kind, strict=False)
    except msgspec.ValidationError:
        log_unread(what, written)
        return None


def listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def plain_text(value: Any) -> str | None:
    """Return a name or an ID as text. Some services send it as a number."""
    return None if value is None or isinstance(value, (Mapping, list)) else whole(str(value))


def whole_number(value: Any) -> int | None:
    """Return a count as an integer, or None if it is not a plausible count. Services send counts as
    numbers of any type, or as text.
    """
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS else None


def tidy(value: Any) -> Any:
    """Return the JSON value with null members removed from objects, and unpaired surrogates
    replaced.
    """
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(key): tidy(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [tidy(item) for item in value]
    return value


def log_unread(what: str, value: Any) -> None:
    log_shape(what, shape_of(value))


@lru_cache(maxsize=1024)  # A process logs each shape once.
def log_shape(what: str, shape: str) -> None:
    logger.warning("Could not read %s from a model's service: %s", what, shape)


on_reset(log_shape.cache_clear)
