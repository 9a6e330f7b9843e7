"""The list of the toolsets of a saved manifest."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.client_tools import ClientToolSet
from apps.manifest.mcp_toolsets import DialMcpToolSet, McpToolSet
from apps.manifest.names import localized
from apps.manifest.toolsets import (
    DeploymentToolSet,
    DialAppToolSet,
    InternalToolSet,
    PredefinedToolSet,
    RestToolSet,
    ToolSet,
)


@dataclass(frozen=True, slots=True)
class ToolsetEntry:
    """`about` says where the tools come from; `template` names the predefined toolset, or is ""."""

    index: int
    name: str
    kind: str
    about: str
    is_enabled: bool
    template: str = ""

    @property
    def place(self) -> str:
        return f"tool_sets[{self.index}]"


def toolset_entries(row: Application, application: ResolvedApplication) -> list[ToolsetEntry]:
    pairs = zip(row.manifest["tool_sets"], application.manifest.tool_sets, strict=True)
    return [entry(index, written, toolset) for index, (written, toolset) in enumerate(pairs)]


def entry(index: int, written: Any, toolset: ToolSet) -> ToolsetEntry:
    is_reference = isinstance(written, dict) and written.get("type") == "predefined"
    template = str(written.get("template_name", "")) if is_reference else ""
    if isinstance(toolset, PredefinedToolSet):  # the reference could not be resolved
        missing = "There is no such predefined toolset."
        return ToolsetEntry(index, toolset.template_name, toolset.type, missing, False, template)
    name = localized(toolset.name) or "without a name"
    return ToolsetEntry(index, name, toolset.type, origin(toolset), toolset.enabled, template)


def origin(toolset: ToolSet) -> str:
    match toolset:
        case McpToolSet():
            info = toolset.mcp_server_info
            return f"the server {info.server}" if info.protocol == "stdio" else host_of(info.url)
        case DialAppToolSet():
            return f"the application {toolset.deployment_id}"
        case DialMcpToolSet():
            return f"the toolset {toolset.id}"
        case PredefinedToolSet():
            return ""
        case ClientToolSet():
            names = ", ".join(tool.name for tool in toolset.tools)
            return f"tools of the page of a conversation: {names}"
        case RestToolSet() | DeploymentToolSet() | InternalToolSet():
            count = len(toolset.tools)
            return "1 tool" if count == 1 else f"{count} tools"


def host_of(url: str) -> str:
    """Nothing but host and port: other parts of an address may carry a secret."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.hostname}{port}" if parts.hostname else "this installation"
