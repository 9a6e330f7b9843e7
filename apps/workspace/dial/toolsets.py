"""MCP endpoints of Core's toolsets and of applications that offer their tools."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from apps.errors import Unsupported
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import path_segment
from apps.workspace.dial.headers import ascii_headers, forwarded
from apps.workspace.dial.metadata import APPLICATION, find_metadata, get_entity
from apps.workspace.port import McpEndpoint


async def find_endpoint(calls: Calls, deployment_id: str) -> McpEndpoint:
    """Raises `DeploymentNotFound`, `Unsupported`, `ServiceFailed`."""
    name = path_segment(deployment_id)
    written: Mapping[str, Any] | None = None
    if not name.startswith(APPLICATION):
        written = await calls.once(("toolset", name), partial(fetch_toolset, calls, name))
    if written is None:
        written = await application(calls, deployment_id)
    return endpoint(calls, name, written)


async def fetch_toolset(calls: Calls, name: str) -> Mapping[str, Any] | None:
    """Transport, name and description of a toolset; None if there is none."""
    found = await get_entity(calls, "toolsets", name)
    if found is None:
        return None
    return {key: found.get(key) for key in ("transport", "display_name", "description")}


async def application(calls: Calls, deployment_id: str) -> Mapping[str, Any]:
    """Raises `DeploymentNotFound`, `Unsupported`, `ServiceFailed`."""
    metadata = await find_metadata(calls, deployment_id)
    if metadata.features.get("mcp") is not True:
        raise Unsupported(f"The deployment {deployment_id!r} does not offer its tools over MCP.")
    return metadata.written


def endpoint(calls: Calls, name: str, written: Mapping[str, Any]) -> McpEndpoint:
    is_sse = str(written.get("transport") or "").lower() == "sse"
    return McpEndpoint(
        url=f"{calls.core.url}/v1/toolset/{name}/mcp",
        headers=ascii_headers(forwarded(calls.caller)),
        protocol="sse" if is_sse else "streamable_http",
        display_name=localizable(written.get("display_name")),
        description=localizable(written.get("description")),
    )


def localizable(value: Any) -> str | dict[str, str]:
    if isinstance(value, Mapping):
        return {str(locale): str(text) for locale, text in value.items()}
    return value if isinstance(value, str) else ""
