"""Requests of MCP clients to the consumer directly, in both revisions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from channels.routing import URLRouter
from django.urls import re_path

from apps.mcp_server.consumers import McpConsumer
from apps.mcp_server.routing import MCP
from tests.gateway.scripts import Answer, Client, ScriptedModel, ScriptedWorkspace, unrecorded

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


def site(scripted: Any = None, **options: Any) -> Any:
    """Return the routes of the server. `scripted` is a model or a workspace."""
    model = ScriptedModel() if scripted is None else scripted
    workspace = model if callable(model) else ScriptedWorkspace(model)
    given = {"open_workspace": workspace, "recorded": unrecorded, **options}
    return URLRouter([re_path(rf"^{MCP}", McpConsumer.as_asgi(**given))])


def written(
    method: str,
    params: Mapping[str, Any],
    revision: str = MODERN,
    capabilities: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    meta = {
        f"{META}protocolVersion": revision,
        f"{META}clientInfo": {"name": "test", "version": "1"},
        f"{META}clientCapabilities": capabilities or {},
    }
    sent = (
        {**params, "_meta": {**meta, **params.get("_meta", {})}} if revision == MODERN else params
    )
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": sent}


def headers_of(
    method: str, params: Mapping[str, Any], revision: str = MODERN, key: str = ""
) -> dict[str, str]:
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": revision,
        "mcp-method": method,
    }
    if method in NAMED:
        headers["mcp-name"] = str(params.get(NAMED[method], ""))
    return headers | ({"authorization": f"Bearer {key}"} if key else {})


async def open_request(
    routes: Any,
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    slug: str = "",
    revision: str = MODERN,
    capabilities: Mapping[str, Any] | None = None,
    key: str = "",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    **options: Any,
) -> Client:
    """Send a request without reading its response."""
    given = params or {}
    sent = json.dumps(written(method, given, revision, capabilities)).encode()
    client = Client(
        routes,
        f"/mcp/{slug}" if slug else "/mcp",
        method="POST",
        headers={**headers_of(method, given, revision, key), **(headers or {})},
        **options,
    )
    await client.send(sent if body is None else body)
    return client


async def request(routes: Any, method: str, *args: Any, **options: Any) -> Answer:
    return await (await open_request(routes, method, *args, **options)).read()


def messages_of(answer: Answer) -> list[dict[str, Any]]:
    """Return the messages of an answer, whether it is JSON or a stream."""
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        lines = answer.body.decode().splitlines()
        return [
            json.loads(line[5:]) for line in lines if line.startswith("data:") and line[5:].strip()
        ]
    return [answer.json()]


def result_of(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = messages_of(answer)[-1]["result"]
    return found


def error_of(answer: Answer) -> tuple[int, dict[str, Any]]:
    return answer.status, messages_of(answer)[-1]["error"]


def call(slug: str, message: str = "Hi", **params: Any) -> dict[str, Any]:
    """Return the parameters of a tool call."""
    return {"name": slug, "arguments": {"message": message}, **params}
