"""Encodes the events of runs as JSON, for the page and for API clients."""

from collections.abc import Mapping
from typing import Any, assert_never
from uuid import UUID

import msgspec
from django.conf import settings

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
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
)
from apps.agent.messages import attachment_to_dict
from apps.conversations.outcome.figures import visible_metrics
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
    StreamEvent,
    shorten_key,
    storable_value,
)


def encode(event: StreamEvent) -> dict[str, Any] | None:  # noqa: C901 - one case for each event
    """Return the event as JSON for the page, or None if the page does not show it."""
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
            is_told = ("seconds" if event.is_thought else "tools") in settings.ANSWER_FIGURES
            time = round(seconds, 3) if is_told and seconds is not None else None
            return {"type": "stage.closed", "stage": stage, "failed": failed, "seconds": time}
        case AttachmentAdded(attachment):
            return {"type": "attachment.added", "attachment": attachment_to_dict(attachment)}
        case AnnotationAdded(annotation):
            return {"type": "annotation.added", "annotation": dict(annotation)}
        case NoticeAdded(notice, text):
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
                "key": shorten_key(asked.key),
                "kind": asked.kind,
                "asked": dict(asked.asked),
                "due": due,
            }
        case InteractionResolved(key, kind, answer, by, at):
            resolved = {"key": key, "kind": kind, "answer": dict(answer), "by": by, "at": at}
            return {"type": "interaction.resolved", **resolved}
        case SubagentStarted(key, stage, name, agent):
            subagent = {"key": shorten_key(key), "stage": stage, "name": name, "agent": agent}
            return {"type": "helper.began", **subagent}
        case SubagentEnded(key, status):
            return {"type": "helper.ended", "key": shorten_key(key), "status": status}
        case TodoChanged(text):
            return {"type": "todo.changed", "text": text}
        case QuestionAdded(message):
            return {"type": "message.added", "message": message}
        case BranchesChanged():
            return {"type": "branches.changed"}
        case StatusChanged(status):
            return {"type": "run.status", "status": status}
        case RunResumed():
            return {"type": "run.continued"}
        case RunFailed(text, reference):
            return {"type": "run.error", "text": text, "reference": reference}
        case AnswerStored(message):
            return {"type": "message.complete", "message": visible_metrics(message)}
        case ToolCallsRequested() | StateSaved() | Spent() | RunFinished() | CallCounted():
            return None
        case _:
            assert_never(event)


def frame(conversation: UUID, said: NumberedEvent) -> dict[str, Any] | None:
    """Return the event's JSON for the page with its number, conversation and run, or None if the
    page does not show it.
    """
    number, run, event = said
    written = encode(event)
    if written is None:
        return None
    ids = {"conversation": str(conversation), "run": str(run), "seq": number}
    return {**storable_value(written), **ids}


def to_json(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
