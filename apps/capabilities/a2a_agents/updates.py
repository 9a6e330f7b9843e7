"""Parses the tasks, messages and updates that an agent sends as JSON.

Unknown fields are ignored, and null means a missing field, as in Protobuf's JSON format.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from apps.agent.surrogates import decode_json
from apps.capabilities.wrappers.value_texts import one_line

T = TypeVar("T")

SUBMITTED, WORKING = "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"
COMPLETED, FAILED = "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"
CANCELED, REJECTED = "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"
INPUT_REQUIRED, AUTH_REQUIRED = "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"
INTERRUPTED = frozenset({INPUT_REQUIRED, AUTH_REQUIRED})
ENDED = frozenset({COMPLETED, FAILED, CANCELED, REJECTED})
STATES = frozenset({SUBMITTED, WORKING}) | INTERRUPTED | ENDED


class AnswerInvalid(ValueError):
    """Raised if a response does not follow the A2A protocol. The message contains the reason."""


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a message or artifact. It has one of `text`, `raw` (base64), `url` and `data`."""

    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Any = msgspec.UNSET
    media_type: str | None = None
    filename: str | None = None


class AgentMessage(msgspec.Struct, frozen=True, rename="camel"):
    parts: list[Part] | None = None
    context_id: str | None = None
    task_id: str | None = None


class Artifact(msgspec.Struct, frozen=True, rename="camel"):
    artifact_id: str = ""
    parts: list[Part] | None = None


class TaskStatus(msgspec.Struct, frozen=True):
    state: str
    message: AgentMessage | None = None


class Task(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    status: TaskStatus
    context_id: str | None = None
    artifacts: list[Artifact] | None = None


class StatusUpdate(msgspec.Struct, frozen=True, rename="camel"):
    task_id: str
    status: TaskStatus
    context_id: str | None = None


class ArtifactUpdate(msgspec.Struct, frozen=True, rename="camel"):
    task_id: str
    artifact: Artifact
    context_id: str | None = None
    append: bool | None = None


class Update(msgspec.Struct, frozen=True, rename="camel"):
    """An event in the agent's stream, or the response to a message. Exactly one field is set."""

    task: Task | None = None
    message: AgentMessage | None = None
    status_update: StatusUpdate | None = None
    artifact_update: ArtifactUpdate | None = None


class CallError(msgspec.Struct, frozen=True):
    """An error that the agent returned, over JSON-RPC or HTTP+JSON."""

    message: str = ""
    code: Any = None


class RpcEnvelope(msgspec.Struct, frozen=True):
    """A JSON-RPC response, or the error body of an HTTP+JSON response."""

    result: msgspec.Raw = msgspec.Raw()
    error: CallError | None = None


_decode_update = msgspec.json.Decoder(Update).decode
_decode_task = msgspec.json.Decoder(Task).decode
_decode_envelope = msgspec.json.Decoder(RpcEnvelope).decode


def read_envelope(payload: bytes) -> RpcEnvelope:
    """Parse the envelope of a response. Raises `AnswerInvalid` if it does not follow A2A."""
    return read(_decode_envelope, payload)


def read_update(payload: bytes) -> Update:
    return read(_decode_update, payload)


def read_task(payload: bytes) -> Task:
    return read(_decode_task, payload)


def read(decode: Callable[[bytes], T], payload: bytes) -> T:
    """Parse a payload. Raises `AnswerInvalid` if it is not JSON or does not follow A2A."""
    try:
        return decode_json(decode, payload)
    except msgspec.ValidationError as error:
        raise AnswerInvalid(f"its response does not follow A2A: {one_line(str(error))}.") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise AnswerInvalid("its response is not JSON.") from error


def error_text(body: bytes) -> str:
    """Return the error message from the body of an error response, or "" if there is none."""
    try:
        error = read_envelope(body).error
    except AnswerInvalid:
        return ""
    return error.message if error is not None else ""
