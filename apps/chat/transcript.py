"""The answer so far, gathered from the events of its run."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.events import (
    AttachmentAdded,
    Finished,
    RefusalDelta,
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
from apps.live.events import CallCounted, StatusChanged, StreamEvent, storable
from apps.manifest.features import Figure


@dataclass(slots=True)
class Transcript:
    """It outlives its run, so that a stopped answer keeps what it had."""

    texts: list[str] = field(default_factory=list)
    attached: list[Attachment] = field(default_factory=list)
    open_stages: dict[str, float] = field(default_factory=dict)
    """Stage id → when it was opened."""
    state: dict[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    figures: AnswerFigures = field(default_factory=AnswerFigures)
    first_text_at: float | None = None
    """In seconds since 1970; 0 if the run was begun elsewhere, where nobody knows it any more."""
    status: str = ""
    """Of the run, as it was told last."""
    has_begun: bool = False

    def take(self, event: StreamEvent) -> None:  # noqa: C901 - one case for each event
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
                self.state = storable(state)
            case TodoChanged(text):
                # A run that cannot save its state any more leaves the list all the same.
                self.state = {**self.state, TODO: storable(text)}
            case CallCounted(figures):
                self.figures = figures
            case Spent(usage):
                self.usage = usage
            case Finished(reason, usage):
                self.finish_reason = reason
                self.usage = usage
            case StatusChanged(status):
                self.status = status
                self.has_begun |= status == "running"
            case _:
                pass  # shown, and not part of what is kept

    def note_application(self, version: int, told: tuple[Figure, ...] | None) -> None:
        """Its version and the figures that it tells; a run that another process goes on with keeps
        those that it began with.
        """
        if not self.figures.version:
            self.figures = replace(self.figures, version=version, told=told)

    @property
    def text(self) -> str:
        return str(storable("".join(self.texts)))

    @property
    def attachments(self) -> list[dict[str, Any]]:
        written: list[dict[str, Any]] = storable(list(map(attachment_to_dict, self.attached)))
        return written

    def close_stages(self) -> list[StageClosed]:
        """Events that close the stages which are still open, as failed."""
        now = time.monotonic()
        return [
            self.as_told(StageClosed(stage, now - opened, failed=True))
            for stage, opened in self.open_stages.items()
        ]

    def as_told(self, closed: StageClosed) -> StageClosed:
        return closed if self.figures.tells("tools") else replace(closed, seconds=None)
