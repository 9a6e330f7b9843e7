"""The recorded steps of a run that goes on, taken in silence: people have seen them already."""

from collections.abc import Mapping
from typing import Any

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Emit,
    Event,
    TextDelta,
    TurnRestarted,
)
from apps.agent.messages import Attachment
from apps.agent.progress import Progress


class Replay:
    """The `emit` of a run that goes on.

    Until the first step that is not recorded it collects what the answer consists of; then it
    tells that at once, and passes events on from there.
    """

    def __init__(self, emit: Emit, progress: Progress) -> None:
        self.emit = emit
        self.progress = progress
        self.attachments: list[Attachment] = []
        self.annotations: list[Mapping[str, Any]] = []
        self.is_over = False

    def __call__(self, event: Event) -> None:
        if self.is_over:
            self.emit(event)
            return
        match event:
            case AttachmentAdded(attachment):
                self.attachments.append(attachment)
            case AnnotationAdded(annotation):
                self.annotations.append(annotation)
            case TextDelta():
                pass  # of pictures; the progress has it
            case _:
                self.end()
                self.emit(event)

    def end(self) -> None:
        if not self.is_over:
            self.is_over = True
            shown = tuple(self.attachments), tuple(self.annotations)
            self.emit(TurnRestarted(self.progress.text, *shown))


def end_replay(emit: Emit) -> None:
    """To be called before anything is done that is not recorded."""
    if isinstance(emit, Replay):
        emit.end()
