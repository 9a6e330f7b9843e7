"""Defines the interface of a dialect: the wire format of one API."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from apps.agent.events import Event
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.refusals import Header
from apps.runs.failures import RunFailure
from apps.runs.requests import RunRequest


class PreparedRun(msgspec.Struct, frozen=True):
    """A run request, ready to execute."""

    request: RunRequest
    ignored: frozenset[str] = frozenset()
    """The names of the request's parameters that have no effect."""
    narrative: str = ""
    """The client's description of the user's screen, which the answer shows as a notice."""


class Encoder(Protocol):
    """Encodes the events of one run as a stream of bytes."""

    @property
    def headers(self) -> Sequence[Header]: ...

    @property
    def heartbeat(self) -> bytes:
        """Return the bytes to send after a period without events."""

    @property
    def sends_end_separately(self) -> bool:
        """Return True if the bytes of `end` are sent separately, not together with the last event."""

    def opening(self) -> bytes:
        """Return the bytes that are sent before the first frame."""

    def encode(self, events: Sequence[Event]) -> bytes:
        """Return the frames for these events, or b"" if the client sees none of them."""

    def error(self, body: Any) -> bytes:
        """Return the frames that end the stream with an error. `body` is the result of
        `error_body`.
        """

    def end(self) -> bytes:
        """Return the bytes after the last event or the error."""


class WholeEncoder(Protocol):
    """Collects the events of one run in a complete response."""

    @property
    def headers(self) -> Sequence[Header]: ...

    def feed(self, events: Sequence[Event]) -> None: ...

    def body(self) -> bytes: ...


class ParsedRequest(msgspec.Struct, frozen=True):
    """A parsed request whose application has not been looked up yet.

    `prepare` can raise `BadRequest`. `encoder` and `whole` are called with the application's slug.
    """

    prepare: Callable[[ResolvedApplication], PreparedRun]
    encoder: Callable[[str], Encoder]
    whole: Callable[[str], WholeEncoder]
    application: str = ""
    """The name in the request body, or "" if the URL names the application."""
    is_streamed: bool = True
    end_user: str = ""
    """The user for whom the client sends the request, or ""."""


class Dialect(Protocol):
    """Parses the requests of an API, and encodes its responses.

    `door` is stored with each run. Clients receive the status codes in `passed_on` unchanged if a
    model service returns them. If `passed_on` does not contain 429, a rate limit error has another
    status.
    """

    @property
    def door(self) -> str: ...

    @property
    def passed_on(self) -> frozenset[int]: ...

    def read(self, body: bytes) -> ParsedRequest:
        """Parse the body of a request. Raises `BadRequest` if it is invalid."""

    def error_body(self, found: RunFailure) -> dict[str, Any]: ...
