"""Shows the events of a sub-agent in the stage of its task."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    InteractionRequested,
    ModelUsage,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
)
from apps.agent.messages import Attachment
from apps.agent.tools import Invocation, ToolResult


@dataclass(slots=True)
class SubagentOutput:
    """An `emit` function for a sub-agent's events. It also collects attachments and usage."""

    invocation: Invocation
    shows_stages: bool
    """True if the sub-agent's stages are nested in the task's stage."""
    attachments: list[Attachment] = field(default_factory=list)
    annotations: list[Mapping[str, Any]] = field(default_factory=list)
    usage: tuple[ModelUsage, ...] = ()

    def __call__(self, event: Event) -> None:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.invocation.stage.write(text)
            case Reasoning(stage_id, text):
                self(StageDelta(stage_id, text))
            case StageOpened() | StageRenamed() | StageDelta() | StageAttachment() | StageClosed():
                if self.shows_stages:
                    self.invocation.emit(self.below(event))
            case TurnRestarted(text, attachments, annotations):
                self.invocation.stage.write(text)
                self.attachments += attachments
                self.annotations += annotations
            case NoticeAdded(notice_id, text):
                self.invocation.emit(NoticeAdded(f"{self.invocation.id}-{notice_id}", text))
            case InteractionRequested() | SubagentEnded():
                self.invocation.emit(event)
            case SubagentStarted(_, stage_id):
                own = f"{self.invocation.id}-{stage_id}"
                self.invocation.emit(replace(event, stage_id=own))
            case AttachmentAdded(attachment):
                self.attachments.append(attachment)
            case AnnotationAdded(annotation):
                self.annotations.append(annotation)
            case RunFinished(_, usage) | Spent(usage):
                self.usage = usage.per_model
            case StateSaved() | ToolCallsRequested() | TodoChanged():
                pass  # A sub-agent has no next request, no client tools and no to-do list.
            case _:
                assert_never(event)

    def result(self, text: str) -> ToolResult:
        """Return the sub-agent's final text as a tool result, with its attachments and
        annotations.
        """
        attachments = tuple(dict.fromkeys(self.attachments))
        return ToolResult(
            text,
            attachments=attachments,
            propagated=attachments,
            annotations=tuple(self.annotations),
            usage=self.usage,
        )

    def below(
        self, event: StageOpened | StageRenamed | StageDelta | StageAttachment | StageClosed
    ) -> Event:
        """Return the event with prefixed stage IDs. The prefix makes the IDs unique among all
        sub-agents of the run.
        """
        task = self.invocation.id
        named = replace(event, stage_id=f"{task}-{event.stage_id}")
        if not isinstance(named, StageOpened):
            return named
        parent = named.parent_id
        parent = task if parent is None else f"{task}-{parent}"
        return replace(named, parent_id=parent, is_reasoning=False)
