"""Defines toolsets of the kind `mcp`."""

from typing import Literal

from apps.manifest.kind import CardField, Kind
from apps.manifest.servers import host_and_port
from apps.manifest.toolsets.mcp import McpServerInfo, McpTools
from apps.manifest.toolsets.shared_fields import NamedToolSet


class McpToolSet(NamedToolSet, McpTools):
    """The tools of an MCP server."""

    kind = Kind(
        title="MCP server",
        tools="tools of an MCP server",
        order=4,
        is_prefixed=True,
        card=(CardField("server", "mcp_server_info"),),
    )

    type: Literal["mcp"] = "mcp"
    """The toolset is an MCP server."""
    mcp_server_info: McpServerInfo
    """The server's URL and authentication."""
    is_optional: bool = False
    """True: if no program is registered under its `server` name, the toolset is omitted without an
    error. False: the answer reports the missing toolset.
    """
    forward_headers: tuple[str, ...] | None = None
    """Names of the caller's `X-` headers to send to the server, such as `["X-Tenant"]`. These
    headers never override an authorization header. Null: none.
    """

    @property
    def origin(self) -> str:
        info = self.mcp_server_info
        return f"the server {info.server}" if info.protocol == "stdio" else host_and_port(info.url)

    @property
    def server(self) -> McpServerInfo:
        return self.mcp_server_info
