"""The toolsets of a saved manifest, as a list to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from apps.manifest.names import localized
from apps.manifest.toolsets import (
    DeploymentToolSet,
    DialAppToolSet,
    DialMcpToolSet,
    InternalToolSet,
    McpToolSet,
    PredefinedToolSet,
    RestToolSet,
    ToolSet,
)


@dataclass(frozen=True, slots=True)
class Row:
    """`about` says where its tools come from; `template` is the predefined one it refers to."""

    index: int
    name: str
    kind: str
    about: str
    is_enabled: bool
    template: str = ""

    @property
    def place(self) -> str:
        return f"tool_sets[{self.index}]"


def rows(saved: Sequence[Any], resolved: Sequence[ToolSet]) -> list[Row]:
    """`saved` are the toolsets as the operator wrote them, in the same order."""
    return [
        Row(
            index,
            name_of(toolset),
            toolset.type,
            about(toolset),
            not isinstance(toolset, PredefinedToolSet) and toolset.enabled,
            template_of(written),
        )
        for index, (written, toolset) in enumerate(zip(saved, resolved, strict=True))
    ]


def name_of(toolset: ToolSet) -> str:
    if isinstance(toolset, PredefinedToolSet):
        return toolset.template_name
    return localized(toolset.name) or "without a name"


def template_of(written: Any) -> str:
    is_reference = isinstance(written, Mapping) and written.get("type") == "predefined"
    return str(written.get("template_name", "")) if is_reference else ""


def about(toolset: ToolSet) -> str:
    match toolset:
        case McpToolSet():
            info = toolset.mcp_server_info
            return f"the server {info.server}" if info.protocol == "stdio" else host_of(info.url)
        case DialAppToolSet():
            return f"the application {toolset.deployment_id}"
        case DialMcpToolSet():
            return f"the toolset {toolset.id}"
        case PredefinedToolSet():
            return "There is no such predefined toolset."
        case RestToolSet() | DeploymentToolSet() | InternalToolSet():
            count = len(toolset.tools)
            return "1 tool" if count == 1 else f"{count} tools"


def host_of(url: str) -> str:
    """Of an address that may carry a secret elsewhere."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.hostname}{port}" if parts.hostname else "this installation"
