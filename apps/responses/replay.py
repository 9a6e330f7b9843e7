"""Rebuilds a response from the journal of its stored run, as an event stream or as one object."""

from collections.abc import Mapping
from typing import Any

import msgspec

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    RunFinished,
    TextDelta,
    TurnRestarted,
)
from apps.live.events import (
    AnswerStored,
    BranchesChanged,
    CallCounted,
    InteractionResolved,
    NumberedEvent,
    QuestionAdded,
    RunFailed,
    RunResumed,
    StatusChanged,
    length,
)
from apps.live.models import Run
from apps.responses.encoder import ResponseEncoder
from apps.responses.output_items import OutputItems
from apps.responses.resource import Echo

STATUSES = {
    Run.Status.QUEUED: "queued",
    Run.Status.RUNNING: "in_progress",
    Run.Status.WAITING: "in_progress",
    Run.Status.FAILED: "failed",
    Run.Status.STOPPED: "cancelled",
}


class RunReplay:
    """Rebuilds a run's response from its events.

    All processes produce the same frames, regardless of how the model split its text. Frames up to
    number `after` are omitted.
    """

    def __init__(self, model: str, echo: Echo, after: int = -1) -> None:
        self.encoder = ResponseEncoder(model, echo)
        self.encoder.items = OutputItems(
            self.encoder.resource, 0, counts_characters=True, after=after
        )
        self.status = "queued"
        self.reason = "stop"
        self.failure = ""
        self.last: int | None = None
        """The number of the newest event so far in the run's stream."""

    @property
    def is_over(self) -> bool:
        return bool(self.encoder.last)

    def frames(self, said: NumberedEvent) -> bytes:
        number, _, event = said
        begin = number - length(event)
        if self.last is not None:
            # Clients may have received events that a dead process never stored, so their numbers
            # are skipped.
            self.encoder.items.number += begin - self.last
        self.last = number
        self.take(event)
        return self.encoder.items.take_frames()

    def error_frame(self, body: Mapping[str, Any]) -> bytes:
        """Return the frame for an error in the stream itself. The client can resume after the last
        event that it received.
        """
        items = self.encoder.items
        number = max(items.number - 1, items.after, 0)
        written = msgspec.json.encode({"type": "error", "sequence_number": number, **body})
        return b"event: error\ndata: %b\n\n" % written

    def resource(self) -> dict[str, Any]:
        return self.encoder.last or self.encoder.resource.write(self.status)

    def take(self, event: Any) -> None:
        match event:
            case QuestionAdded():
                self.encoder.items.frame("created", response=self.resource())
            case StatusChanged(status):
                self.change(status)
            case RunFinished(reason, usage):
                self.reason, self.encoder.usage = reason, usage
            case RunFailed(text):
                self.failure = text
            case TurnRestarted():
                self.restart(event)
            case RunResumed() | AnswerStored() | InteractionResolved():
                pass
            case BranchesChanged() | CallCounted():
                pass
            case _:
                self.encoder.write(event)

    def change(self, status: str) -> None:
        encoder = self.encoder
        if status == Run.Status.DONE:
            encoder.finish(self.reason)
            return
        self.status = STATUSES[Run.Status(status)]
        if status in Run.OPEN:
            if status != Run.Status.WAITING:
                encoder.items.frame(self.status, response=self.resource())
            return
        encoder.items.close("incomplete")
        if status == Run.Status.FAILED:
            encoder.end_with("failed", error={"code": "server_error", "message": self.failure})
        else:
            encoder.end_with("cancelled", event="incomplete")

    def restart(self, event: TurnRestarted) -> None:
        """Replace the text so far with the text of the recorded steps."""
        encoder = self.encoder
        encoder.items.close("incomplete")
        output = encoder.resource.output
        output[:] = [item for item in output if item["type"] != "message"]
        if event.text:
            encoder.write(TextDelta(event.text))
        for attachment in event.attachments:
            encoder.write(AttachmentAdded(attachment))
        for annotation in event.annotations:
            encoder.write(AnnotationAdded(annotation))
