"""Defines the events of a stream: events that a run emits, and events about the run itself.

Each event has a number. A text event takes one number per character, so text events can be joined
or split without renumbering other events.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import msgspec

from apps.agent import events as said
from apps.insights.answer_figures import AnswerFigures
from apps.live.models import LONGEST_KEY


@dataclass(frozen=True, slots=True)
class QuestionAdded:
    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BranchesChanged:
    """Reports that the conversation now shows another branch, so viewers must reload it."""


@dataclass(frozen=True, slots=True)
class StatusChanged:
    status: str


@dataclass(frozen=True, slots=True)
class RunResumed:
    """Reports that another process has resumed the run after the run's process died."""


@dataclass(frozen=True, slots=True)
class InteractionResolved:
    """Reports that a question was answered or timed out."""

    key: str
    kind: str
    answer: Mapping[str, Any]
    by: str
    """The name of the user who answered, or "" after a timeout."""
    at: float
    """The time at which the question was closed, as a Unix timestamp."""


@dataclass(frozen=True, slots=True)
class RunFailed:
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class CallCounted:
    """Reports that a model call has ended, with the updated metrics of the answer."""

    figures: AnswerFigures


@dataclass(frozen=True, slots=True)
class AnswerStored:
    message: Mapping[str, Any]


StreamEvent: TypeAlias = (
    said.Event
    | QuestionAdded
    | BranchesChanged
    | StatusChanged
    | RunResumed
    | InteractionResolved
    | RunFailed
    | CallCounted
    | AnswerStored
)
NumberedEvent: TypeAlias = tuple[int, UUID, StreamEvent]
"""An event's number, the run's ID, and the event. The number of a text event is that of its last
character.
"""

NUL = rb"\u0000"
"""A NUL character, as JSON encodes it."""
TEXTS = (said.TextDelta, said.RefusalDelta, said.StageDelta, said.Reasoning)
"""The types of events that can be joined with the next event of the same type."""

NAMES: Mapping[str, type[Any]] = {
    "text": said.TextDelta,
    "refusal": said.RefusalDelta,
    "reasoning": said.Reasoning,
    "stage_opened": said.StageOpened,
    "stage_renamed": said.StageRenamed,
    "stage_text": said.StageDelta,
    "stage_attachment": said.StageAttachment,
    "stage_closed": said.StageClosed,
    "attachment": said.AttachmentAdded,
    "annotation": said.AnnotationAdded,
    "notice": said.NoticeAdded,
    "client_calls": said.ToolCallsRequested,
    "restarted": said.TurnRestarted,
    "interaction": said.InteractionRequested,
    "helper_began": said.SubagentStarted,
    "helper_ended": said.SubagentEnded,
    "todo": said.TodoChanged,
    "spent": said.Spent,
    "finished": said.RunFinished,
    "question": QuestionAdded,
    "branches": BranchesChanged,
    "status": StatusChanged,
    "continued": RunResumed,
    "resolved": InteractionResolved,
    "failed": RunFailed,
    "counted": CallCounted,
    "answer": AnswerStored,
}
"""Maps event names in the journal to event classes. Never change a name, because stored rows
contain it.
"""
_names = {kind: name for name, kind in NAMES.items()}


def is_kept(event: StreamEvent) -> bool:
    """Return True if the journal stores the event. `StateSaved` is stored elsewhere: in steps and
    in the answer.
    """
    return type(event) in _names


def write(event: StreamEvent) -> dict[str, Any]:
    """Return the event as JSON, without fields that are None."""
    fields = storable_value(msgspec.to_builtins(event))
    told = {name: value for name, value in fields.items() if value is not None}
    return {"type": _names[type(event)], **told}


def read(written: Mapping[str, Any]) -> StreamEvent:
    fields = {name: value for name, value in written.items() if name != "type"}
    event: StreamEvent = msgspec.convert(fields, NAMES[written["type"]])
    return event


def length(event: StreamEvent) -> int:
    """Return how many event numbers the event uses: one per character for a text event, otherwise
    one.
    """
    return len(event.text) if isinstance(event, TEXTS) else 1


def after(event: StreamEvent, count: int) -> StreamEvent:
    """Return the text event without its first `count` characters."""
    return with_text(event, event_text(event)[count:])


def with_text(event: StreamEvent, text: str) -> StreamEvent:
    match event:
        case said.TextDelta():
            return said.TextDelta(text)
        case said.RefusalDelta():
            return said.RefusalDelta(text)
        case said.Reasoning(stage, _):
            return said.Reasoning(stage, text)
        case said.StageDelta(stage, _):
            return said.StageDelta(stage, text)
        case _:
            return event


def join_texts(events: Iterable[NumberedEvent]) -> list[NumberedEvent]:
    """Return the events with adjacent text events joined. A joined event has the number of the last
    event in it.
    """
    joined: list[NumberedEvent] = []
    texts: list[str] = []
    for number, run, event in events:
        if joined and run == joined[-1][1] and continues(joined[-1][2], event):
            joined[-1] = number, run, joined[-1][2]
            texts.append(event_text(event))
            continue
        close(joined, texts)
        joined.append((number, run, event))
        texts = [event_text(event)]
    close(joined, texts)
    return joined


def close(joined: list[NumberedEvent], texts: Sequence[str]) -> None:
    if len(texts) > 1:
        number, run, event = joined[-1]
        joined[-1] = number, run, with_text(event, "".join(texts))


def event_text(event: StreamEvent) -> str:
    return event.text if isinstance(event, TEXTS) else ""


def continues(before: StreamEvent, event: StreamEvent) -> bool:
    if type(before) is not type(event) or not isinstance(event, TEXTS):
        return False
    return getattr(before, "stage_id", "") == getattr(event, "stage_id", "")


def storable_value(value: Any) -> Any:
    """Return the JSON value with NUL characters and lone surrogates replaced, because PostgreSQL
    cannot store them.
    """
    is_nested = isinstance(value, (Mapping, list, tuple))
    return value if is_nested and is_storable(value) else replace_unstorable(value)


def is_storable(value: Any) -> bool:
    """Return True if the JSON value contains neither NUL characters nor lone surrogates. Nearly all
    values contain none, and this check is faster than `storable_value`.
    """
    try:
        return NUL not in msgspec.json.encode(value)
    except (TypeError, ValueError):  # A lone surrogate cannot be encoded.
        return False


def replace_unstorable(value: Any) -> Any:
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {replace_unstorable(key): replace_unstorable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_unstorable(item) for item in value]
    return value


def shorten_key(key: str) -> str:
    """Return the key, shortened with a hash if it is too long for its column. Models choose call
    IDs of any length.
    """
    key = storable_value(key)
    if len(key) <= LONGEST_KEY:
        return key
    return f"{key[: LONGEST_KEY - 65]}#{hashlib.sha256(key.encode()).hexdigest()}"
