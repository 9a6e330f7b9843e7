"""Encodes events as server-sent events."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from apps.catalog.models import SystemMessage
from apps.doors.event_json import frame, to_json
from apps.live.events import NumberedEvent

Unions = Literal["plain", "cases"]
"""The form of an event's type in `data`: the key `type`, or an F# union `{"Case": name, "Fields":
[the other keys]}`.
"""

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


def server_sent_event(
    conversation: UUID, said: NumberedEvent, place: str = "", unions: Unions = "plain"
) -> bytes:
    """Encode a conversation's event as a server-sent event, or b"" if clients do not receive it.
    Its ID is `place`, or else the event's number in the conversation.
    """
    whole = frame(conversation, said)
    if whole is None:
        return b""
    return encode_event(SSE_NAMES[whole["type"]], whole, place or str(said[0]), unions)


def list_refresh(name: str, unions: Unions) -> bytes:
    """Return the server-sent event that asks clients to reload a list."""
    return encode_event("ListRefresh", {"type": "list.refresh", "list": name}, "", unions)


def team_changed(unions: Unions) -> bytes:
    """Return the last event of a stream whose user has switched to another team."""
    return encode_event("TeamChanged", {"type": "team.changed"}, "", unions)


def system_message(message: SystemMessage, place: str, unions: Unions) -> bytes:
    shown = {
        "type": "system.message",
        "id": message.pk,
        "text": message.text,
        "level": message.level,
        "until": None if message.until is None else message.until.isoformat(),
    }
    return encode_event("SystemMessage", shown, place, unions)


def encode_event(name: str, shown: Mapping[str, Any], id: str, unions: Unions) -> bytes:
    """Return a server-sent event. An empty `id` leaves the client's `Last-Event-ID` unchanged."""
    data = shown
    if unions == "cases":
        fields = {key: value for key, value in shown.items() if key != "type"}
        data = {"Case": name.removeprefix("AI"), "Fields": [fields]}
    first = f"id: {id}\n" if id else ""
    return f"{first}event: {name}\ndata: {to_json(data)}\n\n".encode()
