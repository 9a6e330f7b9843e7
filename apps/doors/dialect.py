"""The interface of a dialect, the wire format of a door: it parses requests and encodes answers."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from apps.agent.events import Event
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.consumer import Header
from apps.runs.failures import RunFailure
from apps.runs.requests import RunRequest


class PreparedRun(msgspec.Struct, frozen=True):
    """A request for a run, and the names of the client's parameters that have no effect on it.

    `narrative` describes the user's screen. The page shows it to the user.
    """

    request: RunRequest
    ignored: frozenset[str] = frozenset()
    narrative: str = ""


class Encoder(Protocol):
    """Encodes the events of one run as a stream."""

    @property
    def headers(self) -> Sequence[Header]: ...

    @property
    def heartbeat(self) -> bytes:
        """Return the bytes to send if the run has emitted no events for some time."""

    @property
    def ends_apart(self) -> bool:
        """Return True if `end` is sent separately, not with the last event."""

    def opening(self) -> bytes:
        """Return the beginning of the stream, which is sent with the first event or the first
        heartbeat.
        """

    def encode(self, events: Sequence[Event]) -> bytes:
        """Return all frames of a batch, or b"" if there is nothing to show yet."""

    def error(self, body: Any) -> bytes:
        """Return the frames that end the stream with an error. `body` is the error body from the
        dialect.
        """

    def end(self) -> bytes:
        """Return the bytes after the last event or the error."""


class WholeEncoder(Protocol):
    """Collects the events of one run into a whole answer."""

    @property
    def headers(self) -> Sequence[Header]: ...

    def feed(self, events: Sequence[Event]) -> None: ...

    def body(self) -> bytes: ...


class ParsedRequest(msgspec.Struct, frozen=True):
    """A parsed request, before its application is resolved.

    `prepare` may raise `BadRequest`. `encoder` and `whole` are called with the application's slug.
    `application` is the application in the body, for URLs without an application. `end_user` is the
    user on whose behalf the client sends the request.
    """

    prepare: Callable[[ResolvedApplication], PreparedRun]
    encoder: Callable[[str], Encoder]
    whole: Callable[[str], WholeEncoder]
    application: str = ""
    is_streamed: bool = True
    end_user: str = ""


class Dialect(Protocol):
    """Parses the requests and encodes the responses of a door. `door` is the name of the door,
    which is stored with its runs.

    `passed_on` contains the status codes of model services that the client gets unchanged. If it
    does not contain 429, rate limits are reported with another status.
    """

    @property
    def door(self) -> str: ...

    @property
    def passed_on(self) -> frozenset[int]: ...

    def read(self, body: bytes) -> ParsedRequest:
        """Parse a request. Raises `BadRequest`."""

    def error_body(self, found: RunFailure) -> dict[str, Any]: ...
