"""Encodes chat completions responses, either as a stream of chunks or as a single JSON object."""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from django.conf import settings

from apps.agent.events import Event, RunFinished, Spent, StateSaved, TextDelta, TokenLogprob, Usage
from apps.doors.consumer import EVENT_STREAM, HEARTBEAT, JSON
from apps.gateway.deltas import Delta, DialDeltas, join_texts, merge_delta

DONE = b"data: [DONE]\n\n"

_encode = msgspec.json.Encoder().encode


def new_id() -> str:
    return f"chatcmpl-{random.getrandbits(96):024x}"


def usage_to_dict(usage: Usage) -> dict[str, Any] | None:
    """Return the usage as JSON, or None if no model reported its usage."""
    if not usage.per_model:
        return None
    written: dict[str, Any] = tokens(usage.input, usage.output)
    if usage.cached is not None:
        written["prompt_tokens_details"] = {"cached_tokens": usage.cached}
    if usage.reasoning is not None:
        written["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return written


def statistics_to_dict(
    usage: Usage, discarded: Sequence[int] | None = None
) -> dict[str, Any] | None:
    """Return the usage by model and the indexes of discarded messages as JSON, or None if there are
    neither. The setting `SHOW_USAGE_STATISTICS` can hide the usage.
    """
    statistics: dict[str, Any] = {}
    if usage.per_model and settings.SHOW_USAGE_STATISTICS:
        statistics["usage_per_model"] = [
            {"index": index, "model": item.model} | tokens(item.input, item.output)
            for index, item in enumerate(usage.per_model)
        ]
    if discarded is not None:
        statistics["discarded_messages"] = list(discarded)
    return statistics or None


def tokens(prompt: int, completion: int) -> dict[str, int]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def frame_of(value: Mapping[str, Any]) -> bytes:
    return b"data: " + _encode(value) + b"\n\n"


def write_logprobs(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    return {
        "content": [write_logprob(one) for one in tokens if not one.is_refusal] or None,
        "refusal": [write_logprob(one) for one in tokens if one.is_refusal] or None,
    }


def write_logprob(one: TokenLogprob) -> dict[str, Any]:
    return {**write_token(one), "top_logprobs": [write_token(other) for other in one.likeliest]}


def write_token(one: TokenLogprob) -> dict[str, Any]:
    return {"token": one.token, "logprob": one.logprob, "bytes": one.content}


class ChunkEncoder:
    """Encodes the events of a run as a stream of chunks.

    State and usage are sent at the end, so that a run that fails before its first text can still
    get an error status.
    """

    headers = EVENT_STREAM
    heartbeat = HEARTBEAT

    def __init__(
        self, model: str, deltas: Callable[[], DialDeltas], *, sends_end_separately: bool = False
    ) -> None:
        self.new_deltas = deltas
        self.sends_end_separately = sends_end_separately
        self.head = {
            "id": new_id(),
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        opening = _encode(self.head)[:-1] + b',"usage":null,"choices":[{"index":0,'
        # Text is by far the most frequent event, so its chunk is built from bytes that are encoded
        # once.
        self.before = b"data: " + opening + b'"finish_reason":null,"delta":'
        self.before_text = self.before + b'{"content":'
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()

    @cached_property
    def deltas(self) -> DialDeltas:
        return self.new_deltas()

    def encode(self, events: Iterable[Event]) -> bytes:
        """Return the chunks that encode these events, or b"" if clients do not show them."""
        return b"".join(map(self.frame, events))

    def opening(self) -> bytes:
        return self.chunk({"role": "assistant"})

    def frame(self, event: Event) -> bytes:
        if isinstance(event, TextDelta):
            if event.logprobs is None:
                return b"%b%b}}]}\n\n" % (self.before_text, _encode(event.text))
            return self.chunk({"content": event.text}, write_logprobs(event.logprobs))
        match event:
            case StateSaved(state):
                self.state = state
                return b""
            case Spent(usage):
                self.usage = usage
                return b""
            case RunFinished(reason, usage, discarded):
                return self.take_state() + self.last(reason, usage, discarded)
            case _:
                delta = self.deltas.write(event)
                return b"" if delta is None else self.chunk(delta)

    def chunk(self, delta: Mapping[str, Any], logprobs: Mapping[str, Any] | None = None) -> bytes:
        if logprobs is not None:
            written = (self.before, _encode(delta), _encode(logprobs))
            return b'%b%b,"logprobs":%b}]}\n\n' % written
        return b"%b%b}]}\n\n" % (self.before, _encode(delta))

    def take_state(self) -> bytes:
        """Return the chunk with the state, or b"" if there is none or it has already been sent."""
        if not self.state:
            return b""
        state, self.state = self.state, {}
        return self.chunk({"custom_content": {"state": state}})

    def error(self, body: Mapping[str, Any]) -> bytes:
        """Return the chunks with the state and the usage so far, and then the error."""
        cost = self.last(None, self.usage) if self.usage.per_model else b""
        return self.take_state() + cost + frame_of(body)

    def end(self) -> bytes:
        return DONE

    def last(
        self, reason: str | None, usage: Usage, discarded: Sequence[int] | None = None
    ) -> bytes:
        written: dict[str, Any] = {
            **self.head,
            "usage": usage_to_dict(usage),
            "choices": [{"index": 0, "finish_reason": reason, "delta": {}}],
        }
        statistics = statistics_to_dict(usage, discarded)
        if statistics is not None:
            written["statistics"] = statistics
        return frame_of(written)


class CompletionRequest:
    """Collects the events of a run in one message, which is the same as the message that a client
    would build from the chunks.
    """

    headers = JSON

    def __init__(self, model: str, deltas: DialDeltas, *, has_all_keys: bool = False) -> None:
        self.model = model
        self.deltas = deltas
        self.has_all_keys = has_all_keys
        self.merged: Delta = {}
        self.state: Mapping[str, Any] = {}
        self.logprobs: list[TokenLogprob] = []
        self.finished = RunFinished()

    def feed(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, StateSaved):
                self.state = event.state
            elif isinstance(event, RunFinished):
                self.finished = event
            elif (delta := self.deltas.write(event)) is not None:
                merge_delta(self.merged, delta)
            if isinstance(event, TextDelta) and event.logprobs:
                self.logprobs += event.logprobs

    def body(self) -> bytes:
        return msgspec.json.encode(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        usage, reason = self.finished.usage, self.finished.reason
        choice = {"index": 0, "finish_reason": reason, "message": self.message()}
        if (logprobs := self.written_logprobs()) is not None or self.has_all_keys:
            choice["logprobs"] = logprobs
        written: dict[str, Any] = {
            "id": new_id(),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.model,
            "choices": [choice],
            "usage": usage_to_dict(usage),
        }
        statistics = statistics_to_dict(usage, self.finished.discarded)
        return written if statistics is None else {**written, "statistics": statistics}

    def written_logprobs(self) -> dict[str, Any] | None:
        return write_logprobs(self.logprobs) if self.logprobs else None

    def message(self) -> dict[str, Any]:
        written = join_texts(self.merged)
        text = written.pop("content", None) or ""
        has_none = not text and ("tool_calls" in written or "refusal" in written)
        if self.state:
            written["custom_content"] = {
                **written.get("custom_content", {}),
                "state": dict(self.state),
            }
        empty: Delta = {"refusal": None, "annotations": []} if self.has_all_keys else {}
        return {"role": "assistant", "content": None if has_none else text, **empty, **written}
