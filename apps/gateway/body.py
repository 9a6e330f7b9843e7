"""A run as one JSON completion: what a client would have put together from the chunks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

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
)
from apps.agent.messages import attachment_to_dict, call_to_dict
from apps.gateway.wire import SEPARATOR, new_id, statistics_to_dict, usage_to_dict


@dataclass(slots=True)
class ShownStage:
    name: str
    parent: int | None = None
    content: list[str] = field(default_factory=list)
    attachments: list[dict[str, str]] = field(default_factory=list)
    status: str | None = None

    def to_dict(self) -> dict[str, Any]:
        written: dict[str, Any] = {"name": self.name, "status": self.status}
        if self.parent is not None:
            written["parent_stage_index"] = self.parent
        if self.content:
            written["content"] = "".join(self.content)
        if self.attachments:
            written["attachments"] = self.attachments
        return written


@dataclass(slots=True)
class Completion:
    """Gathers the events of a run; what a model thinks and refuses has its place as in a stream."""

    for_core: bool = False
    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    stages: list[ShownStage] = field(default_factory=list)
    indexes: dict[str, int] = field(default_factory=dict)
    attachments: list[dict[str, str]] = field(default_factory=list)
    annotations: list[Mapping[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, list[Any]] = field(default_factory=dict)
    """What is told of the tokens of the text, by its kind (`content`, `refusal`)."""
    finished: Finished = field(default_factory=Finished)

    def feed(self, events: Iterable[Event]) -> None:
        for event in events:
            self.feed_one(event)

    def feed_one(self, event: Event) -> None:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text, logprobs):
                self.text.append(text)
                for kind, tokens in (logprobs or {}).items():
                    known = self.logprobs.setdefault(kind, [])
                    known += tokens if isinstance(tokens, list) else ()
            case RefusalDelta(text):
                (self.text if self.for_core else self.refusal).append(text)
            case Reasoning(_, text) if not self.for_core:
                self.thoughts.append(text)
            case StageOpened(is_reasoning=True) if not self.for_core:
                self.thoughts += [SEPARATOR] if self.thoughts else []
            case StageOpened(stage_id, title, parent_id):
                parent = None if parent_id is None else self.indexes.get(parent_id)
                self.indexes[stage_id] = len(self.stages)
                self.stages.append(ShownStage(title, parent))
            case StageRenamed() | StageDelta() | Reasoning() | StageAttachment() | StageClosed():
                if event.stage_id in self.indexes:
                    self.feed_stage(self.stages[self.indexes[event.stage_id]], event)
            case AttachmentAdded(attachment):
                self.attachments.append(attachment_to_dict(attachment))
            case AnnotationAdded(annotation):
                self.annotations.append(annotation)
            case ToolCallsRequested(calls):
                self.calls += [call_to_dict(call) for call in calls]
            case StateSaved(state):
                self.state = dict(state)
            case Spent():
                pass  # an error has no place for it
            case Finished():
                self.finished = event
            case _:
                assert_never(event)

    def feed_stage(
        self,
        stage: ShownStage,
        event: StageRenamed | StageDelta | Reasoning | StageAttachment | StageClosed,
    ) -> None:
        match event:
            case StageRenamed(_, suffix):
                stage.name += suffix
            case StageDelta(_, text) | Reasoning(_, text):
                stage.content.append(text)
            case StageAttachment(_, attachment):
                stage.attachments.append(attachment_to_dict(attachment))
            case StageClosed(_, _, failed):
                stage.name += event.time
                stage.status = "failed" if failed else "completed"
            case _:
                assert_never(event)

    def to_dict(self, model: str) -> dict[str, Any]:
        usage = self.finished.usage
        logprobs = {kind: tokens or None for kind, tokens in self.logprobs.items()}
        told = {"logprobs": logprobs} if logprobs else {}
        written: dict[str, Any] = {
            "id": new_id(),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": self.finished.reason,
                    "message": self.message(),
                    **told,
                }
            ],
            "usage": usage_to_dict(usage),
        }
        statistics = statistics_to_dict(usage)
        return written if statistics is None else {**written, "statistics": statistics}

    def message(self) -> dict[str, Any]:
        text = "".join(self.text)
        written: dict[str, Any] = {
            "role": "assistant",
            "content": None if (self.calls or self.refusal) and not text else text,
        }
        if self.thoughts:
            written["reasoning_content"] = "".join(self.thoughts)
        if self.refusal:
            written["refusal"] = "".join(self.refusal)
        if self.calls:
            written["tool_calls"] = self.calls
        if self.annotations:
            written["custom_fields"] = {"annotations": self.annotations}
        custom = {
            "stages": [stage.to_dict() for stage in self.stages],
            "attachments": self.attachments,
            "state": self.state,
        }
        present = {key: value for key, value in custom.items() if value}
        return {**written, "custom_content": present} if present else written
