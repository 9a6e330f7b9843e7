"""Converts the events of a streamed response to deltas. Events of an unknown type are skipped."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from apps.agent.model import Delta
from apps.agent.surrogates import decode_json
from apps.errors import ModelFailed
from apps.workspace.responses.answer import ResponseAnswer, failure_of_response
from apps.workspace.responses.kept_items import BETWEEN_TEXTS
from apps.workspace.services.event_stream import speaks
from apps.workspace.services.failures import failure_of_empty_answer
from apps.workspace.services.halves import CutCharacters


class ResponseEvent(msgspec.Struct, gc=False):
    """An event of any type. Its fields are validated only when they are used."""

    type: Any = ""
    delta: Any = ""
    output_index: Any = 0
    summary_index: Any = 0
    logprobs: Any = None
    annotation: Any = None
    item: Any = None
    response: Any = None


_decode = msgspec.json.Decoder(ResponseEvent).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
Handle = Callable[[ResponseAnswer, int, ResponseEvent, list[Delta]], None]


class ResponseEvents:
    """Reads the events of one answer. The last event contains the whole response."""

    def __init__(self) -> None:
        self.answer = ResponseAnswer()
        self.halves = CutCharacters()
        self.is_done = False
        self.has_finished = False
        self.has_understood = False

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        """Convert an event to deltas. Raises `ModelFailed` if the event is an error or cannot be
        parsed.
        """
        try:
            event = _decode(payload)
        except (ValueError, RecursionError):
            if payload.strip() == b"[DONE]":  # Some services end every stream with this.
                return
            event = decode_event(_decode, self.halves.join(payload))
        kind = event.type if isinstance(event.type, str) else ""
        kind = kind or name.decode("latin-1")
        self.has_understood = self.has_understood or kind.startswith(OWN)
        if (handle := HANDLERS.get(kind)) is not None:
            if type(event.output_index) is not int:
                raise not_understood()
            handle(self.answer, event.output_index, event, deltas)
        elif kind in LAST:
            self.has_finished = self.is_done = True
            self.answer.finish(object_in(event.response), deltas)
        elif kind == "error":
            raise failure_of_event(payload)


def read_response(data: bytes) -> list[Delta]:
    """Convert an answer that is not streamed to deltas. Raises `ModelFailed` if it is an error or
    cannot be parsed.
    """
    response = decode_event(_decode_object, data)
    deltas: list[Delta] = []
    ResponseAnswer().finish(response, deltas)
    if response.get("status") is None and not speaks(deltas):
        raise failure_of_empty_answer()
    return deltas


def say(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.say(index, delta_text(event), deltas, event.logprobs)


def refuse(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.refuse(index, delta_text(event), deltas)


def think(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.think(index, delta_text(event), deltas)


def begin_summary(
    answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]
) -> None:
    if event.summary_index:
        answer.think(index, BETWEEN_TEXTS, deltas)


def argue(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.argue(index, delta_text(event), deltas)


def cite(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.cite(index, event.annotation, deltas)


def begin(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.begin(index, object_in(event.item), deltas)


def end(answer: ResponseAnswer, index: int, event: ResponseEvent, deltas: list[Delta]) -> None:
    answer.end(index, object_in(event.item), deltas)


HANDLERS: Mapping[str, Handle] = {
    "response.output_text.delta": say,
    "response.refusal.delta": refuse,
    "response.reasoning_summary_part.added": begin_summary,
    "response.reasoning_summary_text.delta": think,
    "response.reasoning_text.delta": think,
    "response.function_call_arguments.delta": argue,
    "response.output_text.annotation.added": cite,
    "response.output_item.added": begin,
    "response.output_item.done": end,
}
OWN = "response."
"""The prefix of all event types except errors."""
LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})


def delta_text(event: ResponseEvent) -> str:
    """Return the text of an event's delta. Raises `ModelFailed` if it is not text."""
    if event.delta is None:
        return ""
    if not isinstance(event.delta, str):
        raise not_understood()
    return event.delta


def object_in(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a JSON object. Raises `ModelFailed` if it is not."""
    if not isinstance(value, Mapping):
        raise not_understood()
    return value


def failure_of_event(payload: bytes) -> ModelFailed:
    """Return the failure for an error event. The error is the event itself or an object in it."""
    found = decode_event(_decode_object, payload)
    error = found.get("error")
    return failure_of_response(error if isinstance(error, Mapping) else found)


T = TypeVar("T")


def decode_event(decode: Callable[[bytes], T], data: bytes) -> T:
    """Decode an event. Raises `ModelFailed` if it cannot be decoded."""
    try:
        return decode_json(decode, data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise not_understood() from error


def not_understood() -> ModelFailed:
    return ModelFailed("The model's service sent an unreadable response.", reason="unreadable")
