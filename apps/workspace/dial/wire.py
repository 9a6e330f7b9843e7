"""Sends requests to Core over connections that all callers share.

The headers of each request identify the caller, so no state is stored per key.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps import tracing
from apps.errors import ServiceFailed
from apps.process_state import loop_object
from apps.workspace.dial.core import Core
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import URL, Request
from apps.workspace.egress.transport import HttpEndpoint, Limits, StreamedResponse, StreamTransport


@dataclass(frozen=True, slots=True)
class DialFile:
    """A file to send as form data, the format that Core requires."""

    content: bytes = field(repr=False)
    content_type: str


@dataclass(frozen=True, slots=True)
class CoreResponse:
    """A response from DIAL Core. The names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@functools.lru_cache(maxsize=8)
def endpoint_of(url: str) -> HttpEndpoint:
    """Return the URL and the headers for requests to it. Raises `InvalidURL` or
    `UnsupportedProtocol` if the URL cannot be used.
    """
    place = URL(url.rstrip("/"))
    ours = ((b"Accept-Encoding", b"identity"), (b"User-Agent", b"QuickApps"))
    return HttpEndpoint.of(place, ((b"Host", place.netloc), *ours))


async def send_request(
    core: Core,
    method: str,
    target: str,
    headers: Mapping[str, str],
    limits: Limits,
    content: bytes = b"",
) -> StreamedResponse:
    """Send a request, and return the response. The caller must close its body. `target` is an
    encoded path with its query.

    Raises `HTTPError` if Core cannot be reached or does not respond, `InvalidURL` if its URL cannot
    be used, and `EgressRefused` if the connection is not allowed.
    """
    transport = loop_object((StreamTransport, Trust.DIAL), lambda: StreamTransport(Trust.DIAL))
    traced = {**headers, **tracing.headers()}
    return await transport.send(endpoint_of(core.url), content, limits, traced, method, target)


def encoded_body(value: Any, file: DialFile | None) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a request with a file, a JSON value, or neither if both
    are None.
    """
    if file is not None:
        form = {"file": ("file", file.content, file.content_type)}
        request = Request("PUT", "http://any", files=form)
        return {"Content-Type": request.headers["content-type"]}, request.read()
    if value is None:
        return {}, b""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"Content-Type": "application/json"}, text.encode()


def decode_body(body: bytes) -> Any:
    """Parse the JSON body of a response. Raises `ServiceFailed` if it is not JSON."""
    if not body.strip():
        return None
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ServiceFailed(
            "DIAL Core sent a response that is not JSON.", reason="answer"
        ) from error


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a JSON object. Raises `ServiceFailed` if it is not."""
    if not isinstance(value, Mapping):
        raise ServiceFailed("DIAL Core sent an unreadable response.", reason="answer")
    return value
