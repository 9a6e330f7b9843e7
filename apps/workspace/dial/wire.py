"""Requests to Core over connections that all callers share.

The caller is named in the headers of each request, so no state is kept for a key.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps import tracing
from apps.errors import ServiceFailed
from apps.workspace.dial.core import Core
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.per_loop import shared
from apps.workspace.egress.sdk_clients import URL, Request
from apps.workspace.egress.transport import Endpoint, Limits, StreamedResponse, StreamTransport


@dataclass(frozen=True, slots=True)
class File:
    """A file to send as a form, the way Core accepts files."""

    content: bytes = field(repr=False)
    content_type: str


@dataclass(frozen=True, slots=True)
class CoreResponse:
    """`headers` have lower-case names."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@functools.lru_cache(maxsize=8)
def endpoint_of(url: str) -> Endpoint:
    """Raises `InvalidURL`, `UnsupportedProtocol`."""
    place = URL(url.rstrip("/"))
    ours = ((b"Accept-Encoding", b"identity"), (b"User-Agent", b"QuickApps"))
    return Endpoint.of(place, ((b"Host", place.netloc), *ours))


async def send(
    core: Core,
    method: str,
    target: str,
    headers: Mapping[str, str],
    limits: Limits,
    content: bytes = b"",
) -> StreamedResponse:
    """Return the answer; the caller closes its body. `target` is an encoded path with its query.

    Raises `HTTPError`, `InvalidURL`, `EgressRefused`.
    """
    transport = shared((StreamTransport, Trust.DIAL), lambda: StreamTransport(Trust.DIAL))
    traced = {**headers, **tracing.headers()}
    return await transport.send(endpoint_of(core.url), content, limits, traced, method, target)


def encoded_body(value: Any, file: File | None) -> tuple[dict[str, str], bytes]:
    """Headers and content for a file, a JSON value, or neither (None)."""
    if file is not None:
        form = {"file": ("file", file.content, file.content_type)}
        request = Request("PUT", "http://any", files=form)
        return {"Content-Type": request.headers["content-type"]}, request.read()
    if value is None:
        return {}, b""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"Content-Type": "application/json"}, text.encode()


def decoded(body: bytes) -> Any:
    """Raises `ServiceFailed`."""
    if not body.strip():
        return None
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ServiceFailed("DIAL Core answered with what is not JSON.", reason="answer") from error


def mapping(value: Any) -> Mapping[str, Any]:
    """Raises `ServiceFailed` for an answer that is not an object."""
    if not isinstance(value, Mapping):
        raise ServiceFailed("DIAL Core answered with what is not understood.", reason="answer")
    return value
