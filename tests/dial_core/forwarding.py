"""Requests that Core sends to a deployment for a caller, and relayed answers."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack
from typing import TypeVar

import httpx
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.dial_core.configuration import EVERY_KIND, Deployment
from tests.dial_core.exchange import Exchange
from tests.dial_core.faults import Dropped
from tests.dial_core.keys import RequestKey
from tests.dial_core.listings import features
from tests.dial_core.urls import plain

T = TypeVar("T")
HOP_BY_HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "host",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "accept-encoding",
        "api-key",
        "x-api-key",
    )
)
APPLICATION_ID = "x-dial-application-id"
PROPERTIES = "x-dial-application-properties"
NOT_RELAYED = frozenset(
    ("connection", "keep-alive", "transfer-encoding", "content-length", "server", "date")
)


class Left(Exception):
    """The client has disconnected."""


def forwarded(exchange: Exchange, deployment: Deployment, *, is_routed: bool) -> dict[str, str]:
    """Return the client's headers without those that it may not send. On a route, the client's own
    properties header is passed on, as in Core."""
    excluded = {*HOP_BY_HOP, APPLICATION_ID, "x-dial-deployment-features"}
    if not is_routed:
        excluded.add(PROPERTIES)
    if not deployment.fields.get("forwardAuthToken"):
        excluded.add("authorization")
    headers = {name: value for name, value in exchange.headers.items() if name not in excluded}
    defaults = deployment.fields.get("defaultHeaders") or {}
    return {**{name.lower(): value for name, value in defaults.items()}, **headers}


def core_headers(deployment: Deployment, key: RequestKey, *, is_routed: bool) -> dict[str, str]:
    """Return the headers that Core itself sets, whatever the client sent."""
    headers = {
        "api-key": key.value,
        "x-dial-deployment-features": json.dumps(features(deployment)),
        "traceparent": f"00-{key.trace_id}-{secrets.token_hex(8)}-01",
    }
    if deployment.schema is not None or is_routed:
        headers[APPLICATION_ID] = plain(deployment.id) if is_routed else deployment.id
    if deployment.schema is not None and deployment.sends_properties:
        headers[PROPERTIES] = json.dumps(deployment.properties_for(EVERY_KIND))
    if "overrideName" in deployment.fields:
        headers["x-dial-override-name"] = deployment.fields["overrideName"]
    return headers


def trace_id(exchange: Exchange) -> str:
    parts = exchange.headers.get("traceparent", "").split("-")
    if len(parts) == 4 and len(parts[1]) == 32:
        return parts[1]
    key = exchange.caller.key
    return key.trace_id if key is not None else secrets.token_hex(16)


async def send(
    exchange: Exchange, method: str, url: str, headers: Mapping[str, str], body: bytes
) -> httpx.Response:
    """Return the response with its body unread. Raises `httpx.TransportError`, `Left`."""
    core = exchange.core
    query = exchange.request.url.query
    if query:
        url += ("&" if "?" in url else "?") + query
    core.note_sent(method, url, headers, body)
    request = httpx.Request(
        method, url, headers=dict(headers), content=body, extensions={"timeout": core.timeouts}
    )
    return await while_there(exchange.request, next(core.clients).send(request, stream=True))


async def while_there(request: Request, work: Awaitable[T]) -> T:
    """Raise `Left` and cancel the work if the client disconnects first."""
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(left(request))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Left
    finally:
        for one in (task, leaving):
            one.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def relayed(response: httpx.Response) -> dict[str, str]:
    return {n.lower(): v for n, v in response.headers.items() if n.lower() not in NOT_RELAYED}


class Lasting(StreamingResponse):
    """A response that closes its resources when it is over, however it ends."""

    def __init__(
        self,
        stream: AsyncIterator[bytes],
        status: int,
        headers: dict[str, str],
        stack: AsyncExitStack,
    ) -> None:
        super().__init__(stream, status, headers)
        self.stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.stack:
            await super().__call__(scope, receive, send)


def passed_on(response: httpx.Response, stack: AsyncExitStack) -> Response:
    """Yield the answer as it arrives, then close the stack and so the answer."""
    return Lasting(whole(response, stack), response.status_code, relayed(response), stack)


async def whole(response: httpx.Response, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    """Return the whole answer. Raises `Dropped`. The stack is closed before the end is sent."""
    try:
        async for data in response.aiter_raw():
            yield data
    except httpx.TransportError:
        raise Dropped from None
    await stack.aclose()
