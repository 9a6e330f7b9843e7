"""Reads and decodes request bodies within size and time limits.

Error messages contain the path of the invalid field, and at most the beginning of its value.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

import msgspec
from django.conf import settings
from pydantic import ValidationError

from apps.agent.surrogates import replace_surrogates
from apps.errors import BadRequest

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

BODY_SECONDS = 300.0
"""The timeout for receiving a request body, in seconds. Bodies with a large size limit have more
time; see `SLOWEST_BYTES`.
"""
SLOWEST_BYTES = 125_000
"""The slowest supported connection in bytes per second (1 Mbit/s). A body of the maximum size must
arrive in time over such a connection.
"""
LINGERING_SECONDS = 5.0
LARGEST_FRAME_BYTES = 1024 * 1024
"""The maximum size of a WebSocket frame from the page, or of a request body of the conversations
API, in bytes.
"""
HALF_CHARACTER = (
    "The request body has an escape of half a character (an unpaired surrogate). Send whole "
    "characters."
)
NO_UTF_8 = "The request body isn't valid JSON: it is not in UTF-8. Send it in UTF-8."
T = TypeVar("T")
LONGEST_QUOTE = 100
"""The length in characters to which error messages truncate a client's text."""
MOST_LINES = 100


class RequestBodyTooLarge(BadRequest):
    http_status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"The request is too large; the limit is {limit:,} bytes.")


class BodyTooSlow(BadRequest):
    http_status = 408

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The request did not arrive within {seconds:g} seconds.")


class BoundedBody:
    """An ASGI `receive` for a body of up to `limit` bytes.

    The body must arrive within `seconds`, or within the time that `limit` bytes take at
    `SLOWEST_BYTES` if that is longer. Messages after the body have no time limit.
    """

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self.next = receive
        self.limit = limit
        self.seconds = max(seconds, limit / SLOWEST_BYTES)
        self.end = asyncio.get_running_loop().time() + self.seconds
        self.size = 0
        self.is_complete = False

    def expect(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Raise `RequestBodyTooLarge` if the Content-Length header exceeds the limit."""
        for name, value in headers:
            if name.lower() == b"content-length" and value.isdigit():
                if int(value[:20]) > self.limit:
                    raise RequestBodyTooLarge(self.limit)
                return

    async def receive(self) -> Message:
        """Return the next ASGI message. Raises `RequestBodyTooLarge` or `BodyTooSlow` if a limit is
        exceeded.
        """
        if self.is_complete:
            return await self.next()
        try:
            async with asyncio.timeout_at(self.end):
                message = await self.next()
        except TimeoutError:
            raise BodyTooSlow(self.seconds) from None
        if message["type"] == "http.request":
            self.size += len(message.get("body", b""))
            self.is_complete = not message.get("more_body", False)
            if self.size > self.limit:
                raise RequestBodyTooLarge(self.limit)
        return message


async def drain(receive: Receive) -> None:
    """Read and discard the rest of a body, for up to `LINGERING_SECONDS`.

    Closing a connection with unread bytes resets it, and a client that reads only after it has sent
    everything would lose the response.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGERING_SECONDS):
            message = await receive()
            while message["type"] == "http.request" and message.get("more_body"):
                message = await receive()


def first_problem(error: ValidationError) -> str:
    """Return the first validation error as text, with the path of its field."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def decode_body(body: bytes, decode: Callable[[bytes], T]) -> T:
    """Decode a JSON body with msgspec's `decode`. Raises `BadRequest` if it is invalid."""
    try:
        if not body.isascii():
            body.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(NO_UTF_8) from error
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error)) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        if replace_surrogates(body) != body:  # msgspec reports that the body is truncated
            raise BadRequest(HALF_CHARACTER) from error
        raise BadRequest(f"The request body isn't valid JSON: {error}") from error
    except RecursionError as error:
        raise too_deep(settings.GATEWAY_MAX_DEPTH) from error


def converted(value: Any, kind: type[T], path: str) -> T:
    """Convert a JSON value to a struct. Raises `BadRequest` with the value's `path` if it is
    invalid.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error), path) from error


def invalid(path: str, problem: str) -> BadRequest:
    place = f" on path {path}" if path else ""
    return BadRequest(f"Your request contained invalid structure{place}. {problem}")


def invalid_structure(text: str, prefix: str = "") -> BadRequest:
    """Convert the text of a msgspec error to a `BadRequest` with a path such as `messages.0.role`.
    `prefix` is the path of the decoded value.
    """
    problem, _, place = text.partition(" - at `$")
    path = place.rstrip("`").replace("[", ".").replace("]", "").replace(".....", ".").strip(".")
    return invalid(".".join(filter(None, (prefix, path))), f"{shorten_text(problem)}.")


def check_depth(body: bytes, values: Iterable[Any], limit: int, level: int) -> None:
    """Raise `BadRequest` if the body is nested more deeply than `limit`. `values` contains the
    body's decoded values at the nesting level `level`.
    """
    # With so few brackets, the body cannot exceed the limit.
    if body.count(b"[") + body.count(b"{") <= limit:
        return
    found = [msgspec.to_builtins(item) for item in values if not isinstance(item, str)]
    for _ in range(limit - level + 1):
        found = [child for item in found for child in children(item)]
        if not found:
            return
    raise too_deep(limit)


def children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [value for value in item.values() if isinstance(value, dict | list)]
    if isinstance(item, list):
        return [value for value in item if isinstance(value, dict | list)]
    return []


def too_deep(limit: int) -> BadRequest:
    return BadRequest(f"The request body is nested deeper than {limit} levels.")


def shorten_text(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def bullet_lines(lines: Sequence[str]) -> str:
    """Return the lines as a bulleted list of up to `MOST_LINES` lines, plus a line with the number
    of omitted lines.
    """
    shown = [f"- {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"- … and {len(lines) - MOST_LINES} more")
    return "\n".join(shown)


S = TypeVar("S", bound=msgspec.Struct)


class NamedUnknown(Generic[S]):
    """Decodes bodies as the struct `strict`, which rejects unknown fields. A body with unknown
    fields is decoded again as the struct `lenient`, and the names of these fields are reported.
    """

    def __init__(self, strict: type[S], lenient: type[S]) -> None:
        self.fields = frozenset(field.encode_name for field in msgspec.structs.fields(strict))
        self.decode_strict = msgspec.json.Decoder(strict).decode
        self.decode_lenient = msgspec.json.Decoder(lenient).decode
        self.decode_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

    def decode(self, body: bytes) -> tuple[S, frozenset[str]]:
        """Return the request and the names of its unknown fields. Raises msgspec's errors if the
        body is invalid.
        """
        try:
            return self.decode_strict(body), frozenset()
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
        return self.decode_lenient(body), frozenset(self.decode_names(body).keys() - self.fields)
