"""The toolsets of applications that lead to an MCP server."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from django.conf import settings

from apps.capabilities.mcp.administration import title_of
from apps.catalog.content.installed import installed
from apps.catalog.content.references import resolve_references
from apps.catalog.models import Application
from apps.manifest.mcp_toolsets import DialMcpToolSet, McpServer, McpToolSet
from apps.manifest.names import localized, possible_names
from apps.manifest.toolsets import DialAppToolSet, ToolSet
from apps.manifest.validation import ManifestInvalid, read
from apps.workspace.egress.urls import AddressInvalid, read_url

PROGRAM: Final = "stdio"


@dataclass(frozen=True, slots=True)
class Use:
    application: Application
    toolset: str


def uses_by_server() -> dict[str, list[Use]]:
    """The toolsets of enabled applications that lead to a server, by `server_key`."""
    found: dict[str, list[Use]] = {}
    for application in Application.objects.filter(is_enabled=True):
        for toolset in toolsets_of(application):
            if name := server_of(toolset):
                use = Use(application, localized(toolset.name) or toolset.type)
                found.setdefault(name, []).append(use)
    return found


def toolsets_of(application: Application) -> tuple[Any, ...]:
    preview = settings.ENABLE_PREVIEW_FEATURES
    default = settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID
    try:
        manifest = read(application.manifest, preview=preview, default_deployment=default)
    except ManifestInvalid:
        return ()  # its runs open nothing
    return resolve_references(manifest, installed(), preview=preview).manifest.tool_sets


def tool_names(tools: Iterable[tuple[str, str]]) -> set[str]:
    """What models call the tools of servers, in all applications that may have them.

    A tool is the name of a program or a host, and the server's own name of the tool.
    """
    by_server: dict[str, set[str]] = {}
    for server, tool in tools:
        by_server.setdefault(server, set()).add(tool)
    return {
        name
        for application in Application.objects.all()
        for toolset in toolsets_of(application)
        if isinstance(toolset, McpToolSet)
        for tool in by_server.get(place_of(toolset.mcp_server_info), ())
        for name in possible_names(toolset.name, tool)
    }


def place_of(info: McpServer) -> str:
    """The name of a program, or a host; "" where an address cannot be read."""
    if info.protocol == PROGRAM:
        return info.server
    try:
        return read_url(info.url).parts.netloc
    except AddressInvalid:
        return ""


def server_of(toolset: ToolSet) -> str:
    """Its `server_key`, "" for a toolset without a server."""
    match toolset:
        case McpToolSet(enabled=True):
            info = toolset.mcp_server_info
            try:
                return server_key(info.protocol, title_of(info))
            except AddressInvalid:
                return ""
        case DialMcpToolSet(enabled=True):
            return in_dial(toolset.id)
        case DialAppToolSet(enabled=True):
            return in_dial(toolset.deployment_id)
        case _:
            return ""


def in_dial(identifier: str) -> str:
    base = settings.DIAL_URL
    return server_key("", f"{base}/v1/toolset/{identifier}/mcp") if base else ""


def server_key(protocol: str, title: str) -> str:
    return f"{'program' if protocol == PROGRAM else 'address'} {unquote(title)}"
