"""The events of a stream as the page receives them: socket frames and server-sent events."""

from collections.abc import Mapping
from typing import Any, Literal, assert_never
from uuid import UUID

import msgspec
from django.conf import settings

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Finished,
    HelperBegan,
    HelperEnded,
    InteractionRequested,
    Noticed,
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
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
)
from apps.agent.messages import attachment_to_dict
from apps.catalog.models import SystemMessage
from apps.chat.figures import shown
from apps.live.events import (
    AnswerStored,
    BranchesChanged,
    CallCounted,
    Continued,
    InteractionResolved,
    NumberedEvent,
    QuestionAdded,
    RunFailed,
    StatusChanged,
    StreamEvent,
    storable,
)
from apps.live.step_keys import kept_key

Unions = Literal["plain", "cases"]
"""How `data` says what it is: by its `type`, or as `{"Case": name, "Fields": [the rest]}`, which is
how F# programs write such values."""

SSE_NAMES = {
    "message.delta": "AIMessageDelta",
    "stage.opened": "AIToolCallStarted",
    "stage.delta": "AIToolCallProgress",
    "stage.closed": "AIToolCallCompleted",
    "attachment.added": "AIAttachmentAdded",
    "annotation.added": "AIAnnotationAdded",
    "notice.added": "AINoticeAdded",
    "helper.began": "AIHelperStarted",
    "helper.ended": "AIHelperCompleted",
    "todo.changed": "AITodoChanged",
    "run.status": "AITaskStatusChanged",
    "message.added": "AIMessageComplete",
    "branches.changed": "AIBranchesChanged",
    "message.complete": "AIMessageComplete",
    "run.error": "AIStreamError",
    "run.continued": "AIRunContinued",
    "answer.restarted": "AIMessageRestarted",
    "interaction.requested": "AIInteractionRequested",
    "interaction.resolved": "AIInteractionResolved",
}


def encode(event: StreamEvent) -> dict[str, Any] | None:  # noqa: C901 - one case for each event
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
            failed = event.reads_failed
            is_told = "tools" in settings.ANSWER_FIGURES
            time = round(seconds, 3) if is_told and seconds is not None else None
            return {"type": "stage.closed", "stage": stage, "failed": failed, "seconds": time}
        case AttachmentAdded(attachment):
            return {"type": "attachment.added", "attachment": attachment_to_dict(attachment)}
        case AnnotationAdded(annotation):
            return {"type": "annotation.added", "annotation": dict(annotation)}
        case Noticed(notice, text):
            return {"type": "notice.added", "notice": notice, "text": text}
        case TurnRestarted(text, attachments, annotations):
            return {
                "type": "answer.restarted",
                "text": text,
                "attachments": [attachment_to_dict(attachment) for attachment in attachments],
                "annotations": [dict(annotation) for annotation in annotations],
            }
        case InteractionRequested(asked, due):
            return {
                "type": "interaction.requested",
                "key": kept_key(asked.key),
                "kind": asked.kind,
                "asked": dict(asked.asked),
                "due": due,
            }
        case InteractionResolved(key, kind, answer, by, at):
            resolved = {"key": key, "kind": kind, "answer": dict(answer), "by": by, "at": at}
            return {"type": "interaction.resolved", **resolved}
        case HelperBegan(key, stage, name, agent):
            helper = {"key": kept_key(key), "stage": stage, "name": name, "agent": agent}
            return {"type": "helper.began", **helper}
        case HelperEnded(key, status):
            return {"type": "helper.ended", "key": kept_key(key), "status": status}
        case TodoChanged(text):
            return {"type": "todo.changed", "text": text}
        case QuestionAdded(message):
            return {"type": "message.added", "message": message}
        case BranchesChanged():
            return {"type": "branches.changed"}
        case StatusChanged(status):
            return {"type": "run.status", "status": status}
        case Continued():
            return {"type": "run.continued"}
        case RunFailed(text, reference):
            return {"type": "run.error", "text": text, "reference": reference}
        case AnswerStored(message):
            return {"type": "message.complete", "message": shown(message)}
        case ToolCallsRequested() | StateSaved() | Spent() | Finished() | CallCounted():
            return None
        case _:
            assert_never(event)


def frame(conversation: UUID, said: NumberedEvent) -> dict[str, Any] | None:
    """The whole frame of an event; None for an event that is not shown."""
    number, run, event = said
    written = encode(event)
    if written is None:
        return None
    ids = {"conversation": str(conversation), "run": str(run), "seq": number}
    return {**storable(written), **ids}


class FrameWriter:
    """The frames of one socket: what the page knows from the frame before is left out."""

    def __init__(self) -> None:
        self.run = ""

    def write(self, conversation: UUID, said: NumberedEvent) -> str:
        """ "" for an event that is not shown."""
        whole = frame(conversation, said)
        if whole is None:
            return ""
        del whole["conversation"]
        if whole["run"] == self.run:
            del whole["run"]
        else:
            self.run = whole["run"]
        return to_json(whole)


def server_sent_event(
    conversation: UUID, said: NumberedEvent, place: str = "", unions: Unions = "plain"
) -> bytes:
    """b"" for an event that is not shown. Its id is `place`, or its number in the conversation."""
    whole = frame(conversation, said)
    if whole is None:
        return b""
    return sent(SSE_NAMES[whole["type"]], whole, place or str(said[0]), unions)


def list_refresh(name: str, unions: Unions) -> bytes:
    """A server-sent event that asks the reader to load a list anew."""
    return sent("ListRefresh", {"type": "list.refresh", "list": name}, "", unions)


def team_changed(unions: Unions) -> bytes:
    """The last server-sent event for a reader whose person works in another team by now."""
    return sent("TeamChanged", {"type": "team.changed"}, "", unions)


def system_message(message: SystemMessage, place: str, unions: Unions) -> bytes:
    shown = {
        "type": "system.message",
        "id": message.pk,
        "text": message.text,
        "level": message.level,
        "until": None if message.until is None else message.until.isoformat(),
    }
    return sent("SystemMessage", shown, place, unions)


def sent(name: str, shown: Mapping[str, Any], id: str, unions: Unions) -> bytes:
    """A server-sent event; without an `id` it leaves the reader where it was."""
    data = shown
    if unions == "cases":
        fields = {key: value for key, value in shown.items() if key != "type"}
        data = {"Case": name.removeprefix("AI"), "Fields": [fields]}
    first = f"id: {id}\n" if id else ""
    return f"{first}event: {name}\ndata: {to_json(data)}\n\n".encode()


def to_json(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
