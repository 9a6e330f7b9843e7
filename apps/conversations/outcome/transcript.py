"""Collects the content of an answer from its run's events."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.events import (
    AttachmentAdded,
    RefusalDelta,
    RunFinished,
    Spent,
    StageClosed,
    StageOpened,
    StateSaved,
    TextDelta,
    TodoChanged,
    TurnRestarted,
    Usage,
)
from apps.agent.messages import Attachment, attachment_to_dict
from apps.capabilities.todo.capability import TODO
from apps.insights.answer_figures import AnswerFigures
from apps.live.events import CallCounted, StatusChanged, StreamEvent, storable_value
from apps.manifest.features.features import Figure


@dataclass(slots=True)
class Transcript:
    """The content of an answer so far. If the answer is stopped, this content is stored."""

    texts: list[str] = field(default_factory=list)
    attached: list[Attachment] = field(default_factory=list)
    open_stages: dict[str, float] = field(default_factory=dict)
    """The opening time of each open step, by the step's ID."""
    state: dict[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    figures: AnswerFigures = field(default_factory=AnswerFigures)
    first_text_at: float | None = None
    """The Unix time of the first token. None if there is no token yet, 0 if another process wrote
    that token.
    """
    status: str = ""
    """The run's status in the last event."""
    has_started: bool = False

    def apply(self, event: StreamEvent) -> None:  # noqa: C901 - one case for each event
        match event:
            case TextDelta(text) | RefusalDelta(text):
                if self.first_text_at is None:
                    self.first_text_at = time.time()
                self.texts.append(text)
            case TurnRestarted(text, attachments):
                self.texts = [text]
                self.attached = list(attachments)
            case AttachmentAdded(attachment):
                self.attached.append(attachment)
            case StageOpened(stage):
                self.open_stages[stage] = time.monotonic()
            case StageClosed(stage):
                self.open_stages.pop(stage, None)
            case StateSaved(state):
                self.state = storable_value(state)
            case TodoChanged(text):
                # The to-do list is stored even if the run ends without saving its state.
                self.state = {**self.state, TODO: storable_value(text)}
            case CallCounted(figures):
                self.figures = figures
            case Spent(usage):
                self.usage = usage
            case RunFinished(reason, usage):
                self.finish_reason = reason
                self.usage = usage
            case StatusChanged(status):
                self.status = status
                self.has_started |= status == "running"
            case _:
                pass  # These events are shown, but not stored.

    def note_application(self, version: int, shown: tuple[Figure, ...] | None) -> None:
        """Record the application's version, and the metrics that it shows. A resumed run retains
        the values with which it started.
        """
        if not self.figures.version:
            self.figures = replace(self.figures, version=version, told=shown)

    @property
    def text(self) -> str:
        return str(storable_value("".join(self.texts)))

    @property
    def attachments(self) -> list[dict[str, Any]]:
        written: list[dict[str, Any]] = storable_value(list(map(attachment_to_dict, self.attached)))
        return written

    def close_stages(self) -> list[StageClosed]:
        """Return the events that close all open steps as failed."""
        now = time.monotonic()
        return [
            self.as_shown(StageClosed(stage, now - opened, failed=True))
            for stage, opened in self.open_stages.items()
        ]

    def as_shown(self, closed: StageClosed) -> StageClosed:
        figure: Figure = "seconds" if closed.is_thought else "tools"
        return closed if self.figures.tells(figure) else replace(closed, seconds=None)
