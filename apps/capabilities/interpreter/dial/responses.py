"""Parses the responses of DIAL's interpreter, and converts them to an `Execution` or an error."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from apps.capabilities.interpreter.engines import TEXTS, Execution, ProducedFile, is_shown
from apps.capabilities.interpreter.requests import InterpreterFailed


class Response(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class SessionResponse(Response):
    session_id: str | None = Field(default=None, alias="sessionId")


class ExecutionResponse(Response):
    status: str
    result: str | dict[str, JsonValue] | None = None
    stdout: str | None = None
    stderr: str | None = None
    display: list[dict[str, JsonValue]] | None = None


class FileResponse(Response):
    path: str


class FilesResponse(Response):
    files: list[FileResponse] = []


class BucketResponse(Response):
    bucket: str


def execution_of(response: ExecutionResponse) -> Execution:
    """Convert the response to an execution. Only the last output of each media type is used."""
    display = {
        kind: data
        for item in response.display or ()
        for kind, data in item.items()
        if kind in TEXTS or is_shown(kind)
    }
    produced: list[ProducedFile] = []
    notes: list[str] = []
    for kind, data in display.items():
        if kind in TEXTS:
            continue
        try:
            produced.append(ProducedFile("", kind, content_of(kind, data)))
        except (binascii.Error, ValueError):
            notes.append(f"The displayed {kind} is damaged and was left out.")
    return Execution(
        "SUCCESS" if response.status.upper() == "SUCCESS" else "FAILURE",
        result_text(response.result),
        response.stdout or "",
        response.stderr or "",
        display,
        tuple(produced),
        tuple(notes),
    )


def result_text(result: str | Mapping[str, Any] | None) -> str:
    """Return the text representations of the result."""
    if isinstance(result, Mapping):
        return "\n".join(str(data) for kind, data in result.items() if kind in TEXTS)
    return result or ""


def content_of(kind: str, data: Any) -> bytes:
    """Return an output as bytes. Raises `ValueError` if an image is not base64."""
    if kind.startswith("image/"):
        return base64.b64decode("".join(str(data).split()), validate=True)
    return data.encode() if isinstance(data, str) else msgspec.json.encode(data)


UNAUTHORIZED = (
    "Python Code Interpreter does not accept the user's API key. Tell the user that there is a "
    "problem with the API key; calling the tool again does not help."
)
EMPTY = "Python Code Interpreter returned an empty response."
UNREADABLE = "Python Code Interpreter returned a response that cannot be read."
UNREACHABLE = "Python Code Interpreter cannot be reached. Try again later."


class SessionFailed(InterpreterFailed):
    """Raised if the session is unknown or unusable. A new session may work."""


def failure_of(status: int, details: str) -> InterpreterFailed:
    match status:
        case 400:
            return SessionFailed(
                "There is something wrong with the state passed to Python Code Interpreter. "
                f"Details: {details or 'none were given'}"
            )
        case 401:
            return InterpreterFailed(UNAUTHORIZED)
        case 404:
            return SessionFailed(
                "Python Code Interpreter session has been closed. Open a new session to work with "
                "Python Code Interpreter."
            )
        case 429:
            return InterpreterFailed(
                "There are too many Python Code Interpreter sessions. Ask the user to try again "
                "in 5 to 10 minutes."
            )
        case _:
            return InterpreterFailed(
                f"Python Code Interpreter failed with status {status}. Try again later."
            )
