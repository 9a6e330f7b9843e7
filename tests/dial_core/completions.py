"""Chat completions: scripted models answer at once, all others are called over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
from starlette.responses import JSONResponse, Response

from tests.dial_core.attachments import Events, named_in_request, share_upward
from tests.dial_core.configuration import Deployment, named_resources
from tests.dial_core.exchange import Exchange
from tests.dial_core.faults import Dropped, Faults, whole_events
from tests.dial_core.forwarding import (
    Lasting,
    core_headers,
    forwarded,
    relayed,
    send,
    trace_id,
    while_there,
)
from tests.dial_core.keys import RequestKey
from tests.dial_core.models import DONE, Failed, Model, Speech, event
from tests.dial_core.permissions import READ, need
from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import canonical, is_resource

RETRIED = frozenset((429, 502, 503, 504))
EXHAUSTED = "No upstream of the deployment answered"
STREAM = {"content-type": "text/event-stream; charset=utf-8"}


async def chat_completions(exchange: Exchange, id: str | None = None) -> Response:
    if not exchange.headers.get("content-type", "").startswith("application/json"):
        raise Refusal(415, "Only application/json is supported")
    caller = exchange.caller
    body = exchange.json()
    deployment = exchange.core.callable(caller, named(exchange, body) if id is None else id)
    body = {**(deployment.fields.get("defaults") or {}), **body}
    if "overrideName" in deployment.fields:
        body["model"] = deployment.fields["overrideName"]
    faults = exchange.core.faults.get(deployment.id, Faults())
    model = exchange.core.models.get(deployment.id)
    urls = named_in_request(body)
    for url in urls:
        need(caller, url, READ)
    faults.begin()
    if model is not None:
        return await spoken(exchange, deployment, model, body)
    async with AsyncExitStack() as stack:
        keys = exchange.core.keys
        key = stack.enter_context(keys.minted(deployment.id, caller, trace_id(exchange)))
        for url in urls:
            key.grant(url, {READ})
        share_properties(key, deployment)
        response = await asked(exchange, deployment, key, body)
        if response.status_code in RETRIED:
            await response.aclose()
            status = 502 if response.status_code == 502 else 503
            raise Refusal(status, EXHAUSTED, X_UPSTREAM_ATTEMPTS="1")
        stack.push_async_callback(response.aclose)
        is_stream = body.get("stream") is True and is_events(response)
        relay = Relay(exchange, key, response)
        headers = {**relayed(response), "x-upstream-attempts": "1"}
        if is_stream:
            stream = faults.during(relay.events())
            return Lasting(stream, response.status_code, headers, stack.pop_all())
        content = await while_there(exchange.request, relay.whole())
        return Response(content, response.status_code, headers)


def named(exchange: Exchange, body: dict[str, Any]) -> str:
    model = body.get("model")
    if not isinstance(model, str) or not model.strip():
        raise Refusal(400, "model is required")
    return exchange.core.deployment_id(model)


def share_properties(key: RequestKey, deployment: Deployment) -> None:
    """Grant the application read access to what its properties name."""
    if deployment.schema is None:
        return
    if "properties" not in deployment.schema:
        raise Refusal(503, "The schema of the application's type is not available")
    if deployment.properties is None:
        raise Refusal(500, "Typed application's properties not set")
    for url in named_resources(deployment.schema, deployment.properties):
        if is_resource(url):
            key.grant(canonical(url), {READ})


async def asked(
    exchange: Exchange, deployment: Deployment, key: RequestKey, body: dict[str, Any]
) -> httpx.Response:
    if deployment.endpoint is None:
        raise Refusal(503, "Deployment has no endpoint")
    headers = {
        **forwarded(exchange, deployment, is_routed=False),
        **core_headers(deployment, key, is_routed=False),
    }
    content = json.dumps(body).encode()
    return await send(exchange, "POST", deployment.endpoint, headers, content)


def is_events(response: httpx.Response) -> bool:
    return "text/event-stream" in response.headers.get("content-type", "")


class Relay:
    """An answer on its way to the caller. It is scanned, and its end is delayed."""

    def __init__(self, exchange: Exchange, key: RequestKey, response: httpx.Response) -> None:
        self.core = exchange.core
        self.caller = exchange.caller
        self.key = key
        self.response = response

    async def events(self) -> AsyncIterator[bytes]:
        """Return the bytes unchanged. What contains `[DONE]` waits until all else is finished."""
        passing, held = Events(), b""
        try:
            async for data in self.parts():
                for document in passing.read(data):
                    share_upward(self.caller, self.key, document)
                if passing.is_done:
                    held += data
                else:
                    yield data
        except httpx.TransportError:
            raise Dropped from None
        self.core.keys.end(self.key.value)
        if self.core.settings.replaces_usage:
            yield event(self.own_usage("chat.completion.chunk"))
        if held:
            yield held

    async def parts(self) -> AsyncIterator[bytes]:
        if not self.core.settings.replaces_usage:
            async for data in self.response.aiter_raw():
                yield data
            return
        async for data in whole_events(self.response.aiter_raw()):
            yield without_usage(data)

    async def whole(self) -> bytes:
        content = await self.response.aread()
        self.core.keys.end(self.key.value)
        try:
            document = json.loads(content)
        except ValueError:
            return content
        share_upward(self.caller, self.key, document)
        if self.core.settings.replaces_usage and "choices" in document:
            own = self.own_usage("chat.completion")["statistics"]
            document["statistics"] = {**(document.get("statistics") or {}), **own}
            return json.dumps(document).encode()
        return content

    def own_usage(self, kind: str) -> dict[str, Any]:
        figures = {"index": 0, "model": self.key.deployment, "prompt_tokens": 1}
        usage = [{**figures, "completion_tokens": 1, "total_tokens": 2}]
        return {"object": kind, "choices": [], "statistics": {"usage_per_model": usage}}


def without_usage(data: bytes) -> bytes:
    if b"usage_per_model" not in data:
        return data
    document = json.loads(data.strip().removeprefix(b"data:"))
    (document.get("statistics") or {}).pop("usage_per_model", None)
    return event(document)


async def spoken(
    exchange: Exchange, deployment: Deployment, model: Model, body: dict[str, Any]
) -> Response:
    speech = Speech(deployment.id, body, model.steps(body))
    headers = {"x-upstream-attempts": "1"}
    try:
        if body.get("stream") is not True:
            whole = await while_there(exchange.request, speech.whole())
            return JSONResponse(whole, headers=headers)
        events = speech.events()
        first = await while_there(exchange.request, anext(events))
    except Failed as failure:
        return JSONResponse(failure.body, failure.status, headers)
    faults = exchange.core.faults.get(deployment.id, Faults())
    stream = faults.during(joined(first, events))
    return Lasting(stream, 200, {**STREAM, **headers}, AsyncExitStack())


async def joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for data in rest:
        yield data
    yield DONE
