"""Collects a run's answer from its events, and describes its progress."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, assert_never

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    InteractionRequested,
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
    Usage,
)
from apps.agent.messages import Attachment


class GatheredAnswer:
    def __init__(self, attachments: Iterable[Attachment] = ()) -> None:
        self.texts: list[str] = []
        self.attachments = [*attachments]
        self.state: Mapping[str, Any] = {}
        self.usage = Usage()
        self.reason = ""
        self.titles: dict[str, str] = {}

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def feed(self, events: Iterable[Event]) -> Iterator[str]:
        """Add events to the answer. Yield a progress line about each stage that begins or ends."""
        for event in events:
            if line := self.add(event):
                yield line

    def add(self, event: Event) -> str:  # noqa: C901 - one case for each event
        """Add an event to the answer. Return a progress line if the event begins or ends a stage,
        otherwise "".
        """
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.texts.append(text)
            case StageOpened(stage, title, is_reasoning=False):
                self.titles[stage] = title
                return title
            case StageClosed(stage):
                title = self.titles.pop(stage, "")
                ending = "failed" if event.reads_failed else "done"
                return title and f"{title}: {ending}"
            case AttachmentAdded(attachment):
                self.attachments.append(attachment)
            case StateSaved(state):
                self.state = state
            case Spent(usage):
                self.usage = usage
            case RunFinished(reason, usage):
                self.reason, self.usage = reason, usage
            case StageOpened() | StageRenamed() | StageDelta() | Reasoning() | StageAttachment():
                pass  # Progress contains only titles.
            case AnnotationAdded() | NoticeAdded() | SubagentStarted() | SubagentEnded():
                pass
            case TodoChanged() | InteractionRequested() | ToolCallsRequested() | TurnRestarted():
                pass  # The question is asked when the run has ended.
            case _:
                assert_never(event)
        return ""
