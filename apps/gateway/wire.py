"""A run as DIAL's stream of completion chunks."""

import secrets
import time
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, assert_never

import msgspec
from django.conf import settings

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    Finished,
    Reasoning,
    RefusalDelta,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import attachment_to_dict, call_to_dict

DONE = b"data: [DONE]\n\n"
SEPARATOR = "\n\n"

_encode = msgspec.json.Encoder().encode


def new_id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"


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


def statistics_to_dict(usage: Usage) -> dict[str, Any] | None:
    """None also where the installation hides which models it uses."""
    if not usage.per_model or not settings.SHOW_USAGE_STATISTICS:
        return None
    return {
        "usage_per_model": [
            {"index": index, "model": item.model} | tokens(item.input, item.output)
            for index, item in enumerate(usage.per_model)
        ]
    }


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
    is still answered with a status. For DIAL Core reasoning is a stage and a refusal is text; other
    clients get both under the keys of OpenAI's API.
    """

    def __init__(self, model: str, *, for_core: bool = False) -> None:
        self.for_core = for_core
        self.has_thought = False
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
        self.stages: dict[str, int] = {}
        self.stage_indexes = count()
        self.stage_attachments: dict[str, count[int]] = {}
        self.attachments = count()
        self.calls = count()
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()

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
        return self.frame_rare(event)

    def frame_rare(self, event: Event) -> bytes:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text):
                return self.chunk({"content": text})
            case RefusalDelta(text):
                return self.chunk({"content" if self.for_core else "refusal": text})
            case Reasoning(_, text) if not self.for_core:
                return self.chunk({"reasoning_content": text})
            case StageOpened(is_reasoning=True) if not self.for_core:
                return self.separate_thoughts()
            case StageOpened(stage_id, title, parent_id):
                return self.open_stage(stage_id, title, parent_id)
            case StageRenamed(stage_id, suffix):
                return self.stage(stage_id, name=suffix, status=None)
            case StageDelta(stage_id, text) | Reasoning(stage_id, text):
                return self.stage(stage_id, content=text, status=None)
            case StageAttachment(stage_id, attachment):
                index = next(self.stage_attachments.setdefault(stage_id, count()))
                item = {"index": index, **attachment_to_dict(attachment)}
                return self.stage(stage_id, attachments=[item], status=None)
            case StageClosed(stage_id, _, failed):
                named = {"name": event.time} if event.time else {}
                return self.stage(stage_id, **named, status="failed" if failed else "completed")
            case AttachmentAdded(attachment):
                item = {"index": next(self.attachments), **attachment_to_dict(attachment)}
                return self.custom({"attachments": [item]})
            case AnnotationAdded(annotation):
                return self.chunk({"custom_fields": {"annotations": [annotation]}})
            case ToolCallsRequested(calls):
                written = [{"index": next(self.calls), **call_to_dict(call)} for call in calls]
                return self.chunk({"content": None, "tool_calls": written})
            case StateSaved(state):
                self.state = state
                return b""
            case Spent(usage):
                self.usage = usage
                return b""
            case Finished(reason, usage):
                return self.take_state() + self.last(reason, usage)
            case _:
                assert_never(event)

    def separate_thoughts(self) -> bytes:
        """Separate the reasoning of the model's next answer from that before it."""
        lead = self.chunk({"reasoning_content": SEPARATOR}) if self.has_thought else b""
        self.has_thought = True
        return lead

    def open_stage(self, stage_id: str, title: str, parent_id: str | None) -> bytes:
        parent = self.stages.get(parent_id) if parent_id is not None else None
        nested = {} if parent is None else {"parent_stage_index": parent}
        # A repeated id begins another stage: a model may number its calls anew.
        self.stages[stage_id] = next(self.stage_indexes)
        self.stage_attachments.pop(stage_id, None)
        return self.stage(stage_id, name=title, status=None, **nested)

    def stage(self, stage_id: str, **fields: Any) -> bytes:
        index = self.stages.get(stage_id)
        if index is None:
            return b""  # it was never opened
        return self.custom({"stages": [{"index": index, **fields}]})

    def custom(self, content: Mapping[str, Any]) -> bytes:
        return self.chunk({"custom_content": content})

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
        return self.custom({"state": state})

    def rest(self) -> bytes:
        """The state and the usage of an answer that ends with an error."""
        cost = self.last(None, self.usage) if self.usage.per_model else b""
        return self.take_state() + cost

    def last(self, reason: str | None, usage: Usage) -> bytes:
        written: dict[str, Any] = {
            **self.head,
            "usage": usage_to_dict(usage),
            "choices": [{"index": 0, "finish_reason": reason, "delta": {}}],
        }
        statistics = statistics_to_dict(usage)
        if statistics is not None:
            written["statistics"] = statistics
        return b"data: " + _encode(written) + b"\n\n"
