"""The events of a stream: what a run says while it works, and what becomes of the run.

Events are numbered by their length: a text has one number for each character, so that neighbouring
texts can be joined, and cut at any number, without a change of what a number means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import msgspec

from apps.agent import events as said
from apps.insights.answer_figures import AnswerFigures


@dataclass(frozen=True, slots=True)
class QuestionAdded:
    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BranchesChanged:
    """Another path of the conversation is shown from now on: who shows it reads it anew."""


@dataclass(frozen=True, slots=True)
class StatusChanged:
    status: str


@dataclass(frozen=True, slots=True)
class Continued:
    """Another process went on with the run, because the one before it was gone."""


@dataclass(frozen=True, slots=True)
class InteractionResolved:
    """Somebody answered, at a time in seconds since 1970; `by` names them, "" for the clock."""

    key: str
    kind: str
    answer: Mapping[str, Any]
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class RunFailed:
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class CallCounted:
    """A call of a model ended, with which the answer has these figures."""

    figures: AnswerFigures


@dataclass(frozen=True, slots=True)
class AnswerStored:
    message: Mapping[str, Any]


StreamEvent: TypeAlias = (
    said.Event
    | QuestionAdded
    | BranchesChanged
    | StatusChanged
    | Continued
    | InteractionResolved
    | RunFailed
    | CallCounted
    | AnswerStored
)
NumberedEvent: TypeAlias = tuple[int, UUID, StreamEvent]
"""The number in the stream, of a text that of its last character; the run; the event."""

TEXTS = (said.TextDelta, said.RefusalDelta, said.StageDelta, said.Reasoning)
"""Events that are continued by the next of their kind."""

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
    "notice": said.Noticed,
    "restarted": said.TurnRestarted,
    "interaction": said.InteractionRequested,
    "helper_began": said.HelperBegan,
    "helper_ended": said.HelperEnded,
    "todo": said.TodoChanged,
    "spent": said.Spent,
    "finished": said.Finished,
    "question": QuestionAdded,
    "branches": BranchesChanged,
    "status": StatusChanged,
    "continued": Continued,
    "resolved": InteractionResolved,
    "failed": RunFailed,
    "counted": CallCounted,
    "answer": AnswerStored,
}
"""What each is called in the journal. A name that rows have must stay."""
_names = {kind: name for name, kind in NAMES.items()}


def is_kept(event: StreamEvent) -> bool:
    """Whether the journal has such events: a state is in the steps and in the stored answer."""
    return type(event) in _names


def write(event: StreamEvent) -> dict[str, Any]:
    """The event as JSON, without what is None."""
    fields = storable(msgspec.to_builtins(event))
    told = {name: value for name, value in fields.items() if value is not None}
    return {"type": _names[type(event)], **told}


def read(written: Mapping[str, Any]) -> StreamEvent:
    fields = {name: value for name, value in written.items() if name != "type"}
    event: StreamEvent = msgspec.convert(fields, NAMES[written["type"]])
    return event


def length(event: StreamEvent) -> int:
    """How many numbers it takes."""
    return len(event.text) if isinstance(event, TEXTS) else 1


def after(event: StreamEvent, count: int) -> StreamEvent:
    """The rest of a text, without its first characters."""
    return with_text(event, text_of(event)[count:])


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


def join(events: Iterable[NumberedEvent]) -> list[NumberedEvent]:
    """The same with one event for neighbouring texts, which has the number of the last."""
    joined: list[NumberedEvent] = []
    texts: list[str] = []
    for number, run, event in events:
        if joined and run == joined[-1][1] and continues(joined[-1][2], event):
            joined[-1] = number, run, joined[-1][2]
            texts.append(text_of(event))
            continue
        close(joined, texts)
        joined.append((number, run, event))
        texts = [text_of(event)]
    close(joined, texts)
    return joined


def close(joined: list[NumberedEvent], texts: Sequence[str]) -> None:
    if len(texts) > 1:
        number, run, event = joined[-1]
        joined[-1] = number, run, with_text(event, "".join(texts))


def text_of(event: StreamEvent) -> str:
    return event.text if isinstance(event, TEXTS) else ""


def continues(before: StreamEvent, event: StreamEvent) -> bool:
    if type(before) is not type(event) or not isinstance(event, TEXTS):
        return False
    return getattr(before, "stage_id", "") == getattr(event, "stage_id", "")


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
