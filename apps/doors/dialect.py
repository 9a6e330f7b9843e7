"""Defines the interface of a dialect, the wire format of a door."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from apps.agent.events import Event
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.consumer import Header
from apps.runs.failures import RunFailure
from apps.runs.requests import RunRequest


class PreparedRun(msgspec.Struct, frozen=True):
    """A request for a run, and the names of parameters that have no effect on it. `narrative`
    describes the user's screen. The page shows it to the user.
    """

    request: RunRequest
    ignored: frozenset[str] = frozenset()
    narrative: str = ""


class Encoder(Protocol):
    """Encodes one run's events as a stream of bytes."""

    @property
    def headers(self) -> Sequence[Header]: ...

    @property
    def heartbeat(self) -> bytes:
        """Return the bytes to send after a while without events."""

    @property
    def ends_apart(self) -> bool:
        """Return True if `end` is sent separately and not together with the last event."""

    def opening(self) -> bytes:
        """Return the beginning of the stream, which is sent with the first event or heartbeat."""

    def encode(self, events: Sequence[Event]) -> bytes:
        """Return the frames for a batch of events, or b"" if there is nothing to show yet."""

    def error(self, body: Any) -> bytes:
        """Return the frames that end the stream with an error. `body` is the dialect's error
        body.
        """

    def end(self) -> bytes:
        """Return the bytes that follow the last event or the error."""


class WholeEncoder(Protocol):
    """Collects one run's events into a complete response."""

    @property
    def headers(self) -> Sequence[Header]: ...

    def feed(self, events: Sequence[Event]) -> None: ...

    def body(self) -> bytes: ...


class ParsedRequest(msgspec.Struct, frozen=True):
    """A parsed request, before its application is known.

    `prepare` may raise `BadRequest`. `encoder` and `whole` are called with the application's slug.
    `application` is the application in the body, or "" if the URL contains it. `end_user` is the
    user on whose behalf the client sends the request.
    """

    prepare: Callable[[ResolvedApplication], PreparedRun]
    encoder: Callable[[str], Encoder]
    whole: Callable[[str], WholeEncoder]
    application: str = ""
    is_streamed: bool = True
    end_user: str = ""


class Dialect(Protocol):
    """Parses a door's requests and encodes its responses.

    `door` is the name of the door, which is stored with its runs. `passed_on` contains the model
    services' status codes that the client gets unchanged. If it lacks 429, rate limits are reported
    with another status.
    """

    @property
    def door(self) -> str: ...

    @property
    def passed_on(self) -> frozenset[int]: ...

    def read(self, body: bytes) -> ParsedRequest:
        """Parse a request's body. Raises `BadRequest` if it is invalid."""

    def error_body(self, found: RunFailure) -> dict[str, Any]: ...
