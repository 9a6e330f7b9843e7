"""A run as DIAL's stream of completion chunks."""

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from django.conf import settings

from apps.agent.events import Event, Finished, Spent, StateSaved, TextDelta, Usage
from apps.gateway.deltas import DeltaWriter

DONE = b"data: [DONE]\n\n"

_encode = msgspec.json.Encoder().encode


def new_id() -> str:
    return f"chatcmpl-{random.getrandbits(96):024x}"


def usage_to_dict(usage: Usage) -> dict[str, Any] | None:
    """None when no model reported its usage."""
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
    """None if there is nothing to tell; an installation may hide which models it uses."""
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


def error_frame(body: Mapping[str, Any]) -> bytes:
    return b"data: " + _encode(body) + b"\n\n"


class ChunkEncoder:
    """Turns events into frames.

    State and usage are sent right before the end, so that a run that fails before its first text
    is still answered with a status. `for_core` as in `DeltaWriter`.
    """

    def __init__(self, model: str, *, for_core: bool = False) -> None:
        self.for_core = for_core
        self.head = {
            "id": new_id(),
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        opening = _encode(self.head)[:-1] + b',"usage":null,"choices":[{"index":0,'
        # Text is by far the most frequent event: its frame is joined from ready bytes.
        self.before = b"data: " + opening + b'"finish_reason":null,"delta":'
        self.before_text = self.before + b'{"content":'
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()

    @cached_property
    def deltas(self) -> DeltaWriter:
        return DeltaWriter(for_core=self.for_core)

    def encode(self, events: Iterable[Event]) -> bytes:
        """All frames of a batch; empty when there is nothing to show yet."""
        return b"".join([self.frame(event) for event in events])

    def opening(self) -> bytes:
        return self.chunk({"role": "assistant"})

    def frame(self, event: Event) -> bytes:
        if isinstance(event, TextDelta):
            if event.logprobs is None:
                return b"%b%b}}]}\n\n" % (self.before_text, _encode(event.text))
            return self.chunk({"content": event.text}, event.logprobs)
        match event:
            case StateSaved(state):
                self.state = state
                return b""
            case Spent(usage):
                self.usage = usage
                return b""
            case Finished(reason, usage, discarded):
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
        """The chunk with the state, once; empty when there is none."""
        if not self.state:
            return b""
        state, self.state = self.state, {}
        return self.chunk({"custom_content": {"state": state}})

    def rest(self) -> bytes:
        """The state and the usage of an answer that ends with an error."""
        cost = self.last(None, self.usage) if self.usage.per_model else b""
        return self.take_state() + cost

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
        return b"data: " + _encode(written) + b"\n\n"
