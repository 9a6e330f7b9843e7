"""The events of a run as the chunks of a model's answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, assert_never

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    Finished,
    ModelUsage,
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
from apps.agent.messages import ToolCall, attachment_to_dict
from apps.agent.model import (
    Choice,
    Chunk,
    CustomContent,
    Delta,
    FunctionDelta,
    NamedUsage,
    StageDeltaPart,
    Statistics,
    TokenUsage,
    ToolCallDelta,
)


class ChunkWriter:
    """Remembers the numbers of stages, by which a wire tells them apart."""

    def __init__(self) -> None:
        self.stages: dict[str, int] = {}
        self.numbers = count()

    def write(self, events: Iterable[Event]) -> Sequence[Chunk]:
        return [self.chunk(event) for event in events]

    def chunk(self, event: Event) -> Chunk:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text):
                return of(Delta(content=text))
            case RefusalDelta(text):
                return of(Delta(refusal=text))
            case StageOpened(stage_id, title, parent_id):
                return self.open_stage(stage_id, title, parent_id)
            case StageRenamed(stage_id, suffix):
                return self.stage(stage_id, StageDeltaPart(name=suffix))
            case StageDelta(stage_id, text) | Reasoning(stage_id, text):
                return self.stage(stage_id, StageDeltaPart(content=text))
            case StageAttachment(stage_id, attachment):
                written = [attachment_to_dict(attachment)]
                return self.stage(stage_id, StageDeltaPart(attachments=written))
            case StageClosed(stage_id, _, failed):
                status = "failed" if failed else "completed"
                return self.stage(stage_id, StageDeltaPart(status=status))
            case AttachmentAdded(attachment):
                return custom(CustomContent(attachments=[attachment_to_dict(attachment)]))
            case AnnotationAdded(annotation):
                return of(Delta(custom_fields={"annotations": [annotation]}))
            case ToolCallsRequested(calls):
                return of(Delta(tool_calls=numbered(calls)))
            case StateSaved(state):
                return custom(CustomContent(state=dict(state)))
            case Spent(usage):
                return last(None, usage)
            case Finished(reason, usage):
                return last(reason, usage)
            case _:
                assert_never(event)

    def open_stage(self, stage_id: str, title: str, parent_id: str | None) -> Chunk:
        parent = None if parent_id is None else self.stages.get(parent_id)
        # An id that was used before (a model may number its calls anew) begins another stage.
        self.stages[stage_id] = next(self.numbers)
        return self.stage(stage_id, StageDeltaPart(name=title, parent_stage_index=parent))

    def stage(self, stage_id: str, part: StageDeltaPart) -> Chunk:
        part.index = self.stages.get(stage_id)
        if part.index is None:
            return Chunk()  # it was never opened: there is nothing to continue
        return custom(CustomContent(stages=[part]))


def of(delta: Delta) -> Chunk:
    return Chunk([Choice(delta)])


def custom(content: CustomContent) -> Chunk:
    return of(Delta(custom_content=content))


def numbered(calls: Iterable[ToolCall]) -> list[ToolCallDelta]:
    return [
        ToolCallDelta(index, call.id, FunctionDelta(call.name, call.arguments))
        for index, call in enumerate(calls)
    ]


def last(reason: str | None, usage: Usage) -> Chunk:
    """The end; without usage when no model told what it spent."""
    if not usage.per_model:
        return Chunk([Choice(Delta(), reason)])
    return Chunk(
        [Choice(Delta(), reason)],
        TokenUsage(usage.prompt_tokens, usage.completion_tokens, *details(usage)),
        Statistics(
            [
                NamedUsage(item.model, item.prompt_tokens, item.completion_tokens, *details(item))
                for item in usage.per_model
            ]
        ),
    )


def details(usage: Usage | ModelUsage) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of the prompt's tokens, and of the completion's."""
    return {"cached_tokens": usage.cached_tokens}, {"reasoning_tokens": usage.reasoning_tokens}
