"""Other endpoints of a deployment: its configuration, token counting, rating, and its own routes."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urljoin

from starlette.responses import Response

from tests.dial_core.configuration import Deployment
from tests.dial_core.exchange import Exchange
from tests.dial_core.forwarding import core_headers, forwarded, passed_on, send, trace_id
from tests.dial_core.permissions import READ, need, permissions
from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import canonical, is_resource, plain

EMPTY_WHEN_MISSING = frozenset(("configuration", "rate"))


def feature(name: str) -> Callable[[Exchange, str], Awaitable[Response]]:
    async def answer(exchange: Exchange, id: str) -> Response:
        deployment = exchange.core.accessible(exchange.caller, id)
        endpoint = deployment.feature_endpoint(name, exchange.core.settings)
        if endpoint is None and name in EMPTY_WHEN_MISSING:
            return Response()
        if endpoint is None:
            raise Refusal(403, f"Forbidden deployment: {id}")
        return await sent_on(exchange, deployment, endpoint)

    return answer


async def sent_on(
    exchange: Exchange,
    deployment: Deployment,
    url: str,
    *,
    shared: tuple[str, ...] = (),
    static_key: str | None = None,
    is_routed: bool = False,
) -> Response:
    """Forward a request. `shared` become readable for the deployment; with a static key, it gets no
    other key."""
    async with AsyncExitStack() as stack:
        keys = exchange.core.keys
        minted = keys.minted(deployment.id, exchange.caller, trace_id(exchange))
        key = stack.enter_context(minted)
        for resource in shared:
            key.grant(resource, {READ})
        headers = {
            **forwarded(exchange, deployment, is_routed=is_routed),
            **core_headers(deployment, key, is_routed=is_routed),
        }
        if static_key is not None:
            keys.expire(key.value)
            headers["api-key"] = static_key
        response = await send(exchange, exchange.request.method, url, headers, exchange.body)
        stack.push_async_callback(response.aclose)
        return passed_on(response, stack.pop_all())


async def route(exchange: Exchange, id: str, path: str) -> Response:
    """Call a route. Raises `Refusal` with 404 if none matches, and 403 without the permission."""
    deployment = exchange.core.accessible(exchange.caller, id)
    found = matching(deployment, exchange.request.method, f"/{plain(path)}")
    if found is None:
        raise Refusal(404, "Route is not found")
    if not may_take(exchange, deployment, found):
        raise Refusal(403, "Forbidden route")
    if "response" in found:
        answer = bare(found["response"])
        return Response(answer.get("body", ""), answer.get("status", 200))
    upstream = bare(found["upstreams"][0])
    url = upstream["endpoint"]
    if found.get("rewritePath"):
        url = urljoin(url, f"/{path}")
    shared = tuple(named(exchange, found))
    static_key = upstream.get("key")
    return await sent_on(
        exchange, deployment, url, shared=shared, static_key=static_key, is_routed=True
    )


def matching(deployment: Deployment, method: str, path: str) -> dict[str, Any] | None:
    of_type = (deployment.schema or {}).get("dial:applicationTypeRoutes") or {}
    routes = [bare(one) for one in (deployment.fields.get("routes") or of_type).values()]
    for one in sorted(routes, key=lambda one: one.get("order", 2**31)):
        if method in one["methods"] and any(re.fullmatch(p, path) for p in one["paths"]):
            return one
    return None


def may_take(exchange: Exchange, deployment: Deployment, found: Mapping[str, Any]) -> bool:
    """Return True if the caller may use it: by roles for configured applications, by permissions
    for those of users."""
    caller = exchange.caller
    roles = found.get("userRoles")
    if roles and not {*roles} & {*caller.identity.roles}:
        return False
    wanted = {*found.get("permissions", ())}
    return not deployment.is_custom or wanted <= permissions(caller, deployment.id)


def named(exchange: Exchange, found: Mapping[str, Any]) -> list[str]:
    """Return what the body names at the paths of the route, such as `@.url`. Raises `Refusal`."""
    urls = []
    for path in bare(found.get("attachmentPaths", {})).get("requestBody", ()):
        value: Any = json.loads(exchange.body or b"{}")
        for step in path.removeprefix("@").strip(".").split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, str) and is_resource(value):
            need(exchange.caller, canonical(value), READ)
            urls.append(canonical(value))
    return urls


def bare(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key without the prefix that keys have in a type."""
    return {name.removeprefix("dial:"): value for name, value in fields.items()}
