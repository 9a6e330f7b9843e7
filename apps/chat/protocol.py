"""The events of a run as the page receives them: socket frames and server-sent events."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never
from uuid import UUID

import msgspec

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
from apps.agent.messages import attachment_to_dict
from apps.live.hub import NumberedEvent

JOINED = frozenset({"message.delta", "stage.delta"})

SSE_NAMES = {
    "message.delta": "AIMessageDelta",
    "stage.opened": "AIToolCallStarted",
    "stage.delta": "AIToolCallProgress",
    "stage.closed": "AIToolCallCompleted",
    "attachment.added": "AIAttachmentAdded",
    "annotation.added": "AIAnnotationAdded",
    "run.status": "AITaskStatusChanged",
    "message.added": "AIMessageComplete",
    "message.complete": "AIMessageComplete",
    "run.error": "AIStreamError",
}


def encode(event: Event) -> dict[str, Any] | None:  # noqa: C901 - one case for each event
    """The event as the page reads it; None for an event that is not shown."""
    match event:
        case TextDelta(text) | RefusalDelta(text):
            return {"type": "message.delta", "text": text}
        case StageOpened(stage, title, parent):
            return {"type": "stage.opened", "stage": stage, "title": title, "parent": parent}
        case StageRenamed(stage, suffix):
            return {"type": "stage.delta", "stage": stage, "title": suffix}
        case StageDelta(stage, text) | Reasoning(stage, text):
            return {"type": "stage.delta", "stage": stage, "text": text}
        case StageAttachment(stage, attachment):
            written = attachment_to_dict(attachment)
            return {"type": "stage.delta", "stage": stage, "attachment": written}
        case StageClosed(stage, seconds):
            return closed_stage(stage, seconds, failed=event.reads_failed)
        case AttachmentAdded(attachment):
            return {"type": "attachment.added", "attachment": attachment_to_dict(attachment)}
        case AnnotationAdded(annotation):
            return {"type": "annotation.added", "annotation": dict(annotation)}
        case ToolCallsRequested() | StateSaved() | Spent() | Finished():
            return None
        case _:
            assert_never(event)


def closed_stage(stage: str, seconds: float, *, failed: bool) -> dict[str, Any]:
    rounded = round(seconds, 3)
    return {"type": "stage.closed", "stage": stage, "failed": failed, "seconds": rounded}


def run_status(status: str) -> dict[str, Any]:
    return {"type": "run.status", "status": status}


def storable(value: Any) -> Any:
    """The value with NUL characters and lone surrogates replaced, which models and tools send.

    PostgreSQL refuses the first, UTF-8 the second.
    """
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value


def join(batch: Sequence[NumberedEvent]) -> Iterator[NumberedEvent]:
    """Join the texts of neighbouring events; the result has the number of the last one."""
    texts: list[str] = []
    held: NumberedEvent | None = None
    for said in batch:
        if held is not None and continues(held, said):
            texts.append(said[2]["text"])
            held = (said[0], said[1], held[2])
            continue
        if held is not None:
            yield with_text(held, texts)
        held, texts = said, [said[2].get("text", "")]
    if held is not None:
        yield with_text(held, texts)


def continues(held: NumberedEvent, said: NumberedEvent) -> bool:
    (_, run, before), (_, next_run, event) = held, said
    return (
        event["type"] == before["type"]
        and event["type"] in JOINED
        and "text" in event
        and "text" in before
        and run == next_run
        and event.get("stage") == before.get("stage")
    )


def with_text(said: NumberedEvent, texts: Sequence[str]) -> NumberedEvent:
    if len(texts) == 1:
        return said
    return said[0], said[1], {**said[2], "text": "".join(texts)}


def frame(conversation: UUID, said: NumberedEvent) -> str:
    """One frame of the socket, and the data of one server-sent event."""
    number, run, event = said
    return to_json({**event, "conversation": str(conversation), "run": str(run), "seq": number})


def server_sent_event(conversation: UUID, said: NumberedEvent) -> bytes:
    data = frame(conversation, said)
    return f"id: {said[0]}\nevent: {SSE_NAMES[said[2]['type']]}\ndata: {data}\n\n".encode()


def to_json(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
