"""Toolsets: a proxy to real MCP servers, with the credentials that users stored in Core."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.dial_core.configuration import Deployment, camel_case, snake_case
from tests.dial_core.exchange import Exchange
from tests.dial_core.forwarding import (
    core_headers,
    forwarded,
    passed_on,
    relayed,
    send,
    trace_id,
    while_there,
)
from tests.dial_core.keys import Caller, Identity
from tests.dial_core.refusals import Refusal

GLOBAL = ""
"""The owner of credentials for all users."""
SECRETS = frozenset(("client_secret", "token_endpoint"))
NOT_ALLOWED = "Tool is not allowed"
READABLE = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "core", "version": "0"},
}


class SignIns:
    """The credentials of each user for each toolset."""

    def __init__(self) -> None:
        self.credentials: dict[tuple[str, str], str] = {}

    def credential(self, identity: Identity, toolset: str) -> str | None:
        own = self.credentials.get((identity.name, toolset))
        return own if own is not None else self.credentials.get((GLOBAL, toolset))

    def status(self, caller: Caller, toolset: Deployment) -> dict[str, Any]:
        settings: Mapping[str, Any] = toolset.fields.get("authSettings") or {}
        shown = {snake_case(name): value for name, value in settings.items()}
        user = (caller.identity.name, toolset.id)
        return {
            "authentication_type": "NONE",
            **{name: value for name, value in shown.items() if name not in SECRETS},
            "user_level_auth_status": said(user in self.credentials),
            "app_level_auth_status": said(False),
            "global_auth_status": said((GLOBAL, toolset.id) in self.credentials),
        }


def said(is_signed_in: bool) -> str:
    return "SIGNED_IN" if is_signed_in else "SIGNED_OUT"


def authentication(toolset: Deployment) -> tuple[str, str]:
    """Return NONE, API_KEY or OAUTH, and the header for a key."""
    settings = {camel_case(n): v for n, v in (toolset.fields.get("authSettings") or {}).items()}
    return settings.get("authenticationType", "NONE"), settings.get("apiKeyHeader", "Api-Key")


def credential_headers(exchange: Exchange, toolset: Deployment) -> dict[str, str]:
    """Return nothing for callers who are not signed in; the server refuses them itself."""
    kind, header = authentication(toolset)
    credential = exchange.core.sign_ins.credential(exchange.caller.identity, toolset.id)
    if kind == "NONE" or credential is None:
        return {}
    if kind == "API_KEY":
        return {header.lower(): credential}
    return {"authorization": f"Bearer {credential}"}


async def mcp(exchange: Exchange, id: str) -> Response:
    """Pass everything on, except tools that are not allowed. Applications answer here as well."""
    caller = challenged(exchange)
    found = exchange.core.find(id)
    if found is not None and found.kind == "application":
        return await application_mcp(exchange, id)
    toolset = exchange.core.accessible(caller, id, "toolset")
    allowed = allowed_tools(exchange, toolset)
    message = read_message(exchange.body)
    called = (message.get("params") or {}).get("name")
    if allowed and message.get("method") == "tools/call" and called not in allowed:
        raise Refusal(403, NOT_ALLOWED)
    async with AsyncExitStack() as stack:
        headers = forwarded(exchange, toolset, is_routed=False)
        if toolset.fields.get("forwardPerRequestKey"):
            keys = exchange.core.keys
            key = stack.enter_context(keys.minted(toolset.id, caller, trace_id(exchange)))
            headers |= core_headers(toolset, key, is_routed=False)
        headers |= credential_headers(exchange, toolset)
        url, method = toolset.fields["endpoint"], exchange.request.method
        response = await send(exchange, method, url, headers, exchange.body)
        stack.push_async_callback(response.aclose)
        if not allowed or message.get("method") != "tools/list":
            return passed_on(response, stack.pop_all())
        content = await while_there(exchange.request, response.aread())
        return Response(filtered(content, allowed), response.status_code, relayed(response))


async def application_mcp(exchange: Exchange, id: str) -> Response:
    """Return the MCP endpoint of an application, with a key for it."""
    application = exchange.core.accessible(exchange.caller, id, "application")
    endpoint = (application.fields.get("mcp") or {}).get("endpoint")
    if endpoint is None:
        raise Refusal(404, f"MCP endpoint is not found: {id}")
    async with AsyncExitStack() as stack:
        minted = exchange.core.keys.minted(application.id, exchange.caller, trace_id(exchange))
        headers = {
            **forwarded(exchange, application, is_routed=False),
            **core_headers(application, stack.enter_context(minted), is_routed=False),
        }
        response = await send(exchange, exchange.request.method, endpoint, headers, exchange.body)
        stack.push_async_callback(response.aclose)
        return passed_on(response, stack.pop_all())


def challenged(exchange: Exchange) -> Caller:
    """Raise a `Refusal` that tells MCP clients where to sign in to Core itself."""
    try:
        return exchange.caller
    except Refusal as refusal:
        path = exchange.request.scope["raw_path"].decode()
        discovery = f"{exchange.core.url}/.well-known/oauth-protected-resource{path}"
        refusal.headers["www-authenticate"] = f'Bearer resource_metadata="{discovery}"'
        raise


async def protected_resource(exchange: Exchange, path: str) -> Response:
    url = exchange.core.url
    return JSONResponse({"resource": f"{url}/{path}", "authorization_servers": [url]})


def allowed_tools(exchange: Exchange, toolset: Deployment) -> frozenset[str]:
    """Return the allowed tools. Empty means all."""
    allowed = frozenset(toolset.fields.get("allowedTools") or ())
    if exchange.request.query_params.get("useAllowedTools") != "false":
        return allowed
    if "admin" not in exchange.caller.identity.roles:
        raise Refusal(403, "Only administrators may use all tools")
    return frozenset()


def read_message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def filtered(content: bytes, allowed: frozenset[str]) -> bytes:
    """Remove the tools that are not allowed from a listing, as JSON or as events."""

    def keep(match: re.Match[bytes]) -> bytes:
        document = json.loads(match[0])
        tools = (document.get("result") or {}).get("tools")
        if tools is not None:
            document["result"]["tools"] = [tool for tool in tools if tool["name"] in allowed]
        return json.dumps(document).encode()

    return re.sub(rb"\{.+\}", keep, content)


async def tools(exchange: Exchange, id: str) -> Response:
    return JSONResponse(await listed_tools(exchange, id, is_filtered=False))


async def tools_allowed(exchange: Exchange, id: str) -> Response:
    found = await listed_tools(exchange, id, is_filtered=True)
    return JSONResponse({"tools": found["tools"]})


async def listed_tools(exchange: Exchange, id: str, *, is_filtered: bool) -> dict[str, Any]:
    toolset = exchange.core.accessible(exchange.caller, id, "toolset")
    headers = READABLE | credential_headers(exchange, toolset)
    opened = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}
    session, _ = await asked(exchange, toolset, headers, opened)
    headers |= {"mcp-session-id": session} if session else {}
    await asked(
        exchange, toolset, headers, {"jsonrpc": "2.0", "method": "notifications/initialized"}
    )
    params = {"cursor": cursor} if (cursor := exchange.request.query_params.get("cursor")) else {}
    question = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params}
    _, found = await asked(exchange, toolset, headers, question)
    allowed = allowed_tools(exchange, toolset)
    if is_filtered and allowed:
        found["tools"] = [tool for tool in found["tools"] if tool["name"] in allowed]
    return {name: found[name] for name in ("tools", "nextCursor") if name in found}


async def asked(
    exchange: Exchange, toolset: Deployment, headers: Mapping[str, str], message: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the session and the result. Raises `Refusal` with the status of a server that refuses."""
    content = json.dumps(message).encode()
    response = await send(exchange, "POST", toolset.fields["endpoint"], headers, content)
    try:
        answer = await response.aread()
    finally:
        await response.aclose()
    if response.is_error:
        raise Refusal(response.status_code, answer.decode())
    found = re.search(rb"\{.+\}", answer)
    result = json.loads(found[0]).get("result", {}) if found is not None else {}
    return response.headers.get("mcp-session-id", ""), result


async def sign_in(exchange: Exchange) -> Response:
    """Convert the code of an OAuth sign-in to the token `token-{code}`."""
    toolset, level, fields = of_user(exchange)
    kind, _ = authentication(toolset)
    if fields.get("authenticationType") != kind:
        raise Refusal(400, f"Authentication type of the toolset is {kind}")
    credential = f"token-{fields['code']}" if fields.get("code") else fields.get("apiKey")
    if credential is None:
        raise Refusal(400, "code or api_key is required")
    exchange.core.sign_ins.credentials[level, toolset.id] = credential
    return JSONResponse(True)


async def sign_out(exchange: Exchange) -> Response:
    toolset, level, _ = of_user(exchange)
    exchange.core.sign_ins.credentials.pop((level, toolset.id), None)
    return JSONResponse(True)


def of_user(exchange: Exchange) -> tuple[Deployment, str, dict[str, Any]]:
    """Return the toolset, the owner of the credentials, and the fields in camelCase."""
    caller = exchange.caller
    if caller.key is not None:
        raise Refusal(401, "Operation is not permitted by per request API key")
    fields = {camel_case(name): value for name, value in exchange.json().items()}
    id = exchange.core.deployment_id(str(fields.get("url")))
    toolset = exchange.core.accessible(caller, id, "toolset")
    level = fields.get("credentialsLevel", "USER")
    if level == "USER":
        return toolset, caller.identity.name, fields
    if level != "GLOBAL":
        raise Refusal(400, f"Unknown credentials level: {level}")
    if "admin" not in caller.identity.roles:
        raise Refusal(403, "Only administrators may sign in for everybody")
    return toolset, GLOBAL, fields
