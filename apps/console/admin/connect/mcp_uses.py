"""Finds the toolsets of applications that use an MCP server."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from django.conf import settings

from apps.capabilities.mcp.administration import session_title
from apps.catalog.content.installed import installed_content
from apps.catalog.content.references import resolve_references
from apps.catalog.models import Application
from apps.catalog.uses import ItemUser
from apps.manifest.names import localize_text, possible_names
from apps.manifest.toolsets.kinds import ToolSet
from apps.manifest.toolsets.mcp import McpServerInfo
from apps.manifest.toolsets.shared_fields import ToolSetFields
from apps.manifest.validation.validation import ManifestInvalid, read_manifest
from apps.workspace.egress.urls import AddressInvalid, read_url
from apps.workspace.local.models import McpServer

PROGRAM: Final = "stdio"


@dataclass(frozen=True, slots=True)
class Use:
    application: Application
    toolset: str


def uses_by_server() -> dict[str, list[Use]]:
    """Map the `server_key` of each MCP server to the toolsets of enabled applications that use the
    server.
    """
    found: dict[str, list[Use]] = {}
    for application in Application.objects.filter(is_enabled=True):
        for toolset in toolsets_of(application):
            if name := server_of(toolset):
                use = Use(application, localize_text(toolset.name) or toolset.type)
                found.setdefault(name, []).append(use)
    return found


def users_of_program(server: McpServer) -> list[ItemUser]:
    """Return the enabled applications with toolsets that use an MCP server on this machine."""
    return [
        ItemUser("application", use.application.title, use.toolset, use.application.pk)
        for use in uses_by_server().get(server_key(PROGRAM, server.name), ())
    ]


def toolsets_of(application: Application) -> tuple[Any, ...]:
    preview = settings.ENABLE_PREVIEW_FEATURES
    default = settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID
    try:
        manifest = read_manifest(application.manifest, preview=preview, default_deployment=default)
    except ManifestInvalid:
        return ()  # A broken application opens no session.
    return resolve_references(manifest, installed_content(), preview=preview).manifest.tool_sets


def tool_names(tools: Iterable[tuple[str, str]]) -> set[str]:
    """Return the names of MCP tools as models see them in all applications.

    Each item in `tools` is a pair: the server's program or host, and the tool's name on the server.
    """
    by_server: dict[str, set[str]] = {}
    for server, tool in tools:
        by_server.setdefault(server, set()).add(tool)
    return {
        name
        for application in Application.objects.all()
        for toolset in toolsets_of(application)
        if isinstance(toolset, ToolSetFields) and isinstance(toolset.server, McpServerInfo)
        for tool in by_server.get(server_name(toolset.server), ())
        for name in possible_names(toolset.name, tool)
    }


def server_name(info: McpServerInfo) -> str:
    """Return the name of an MCP server's program, or its URL's host, or "" if the URL is
    invalid.
    """
    if info.protocol == PROGRAM:
        return info.server
    try:
        return read_url(info.url).parts.netloc
    except AddressInvalid:
        return ""


def server_of(toolset: ToolSet) -> str:
    """Return the `server_key` of the MCP server that a toolset uses, or "" if it uses none."""
    if not isinstance(toolset, ToolSetFields) or not toolset.enabled:
        return ""
    match toolset.server:
        case McpServerInfo() as info:
            try:
                return server_key(info.protocol, session_title(info))
            except AddressInvalid:
                return ""
        case str() as identifier:
            return in_dial(identifier)
        case None:
            return ""


def in_dial(identifier: str) -> str:
    base = settings.DIAL_URL
    return server_key("", f"{base}/v1/toolset/{identifier}/mcp") if base else ""


def server_key(protocol: str, title: str) -> str:
    return f"{'program' if protocol == PROGRAM else 'address'} {unquote(title)}"
