"""Lists the tools of an MCP server, so that operators can select some of them."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from mcp_types import Tool
from pydantic import ValidationError

from apps.capabilities.mcp.administration import list_server
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.errors import QuickAppError, ToolError
from apps.manifest.names import sanitize
from apps.manifest.toolsets.mcp import McpServerInfo
from apps.workspace.egress.urls import AddressInvalid

SECONDS = 20.0
SIGN_IN = (
    "The server requires a sign-in. Choose how to authenticate: with a token that is stored as a secret, "
    "or with each user's own account."
)
COMMON_LABELS = frozenset({"www", "mcp", "api", "com", "org", "net", "io", "dev", "ai", "app"})


@dataclass(frozen=True, slots=True)
class ServerTools:
    """The tools of an MCP server, or the request to sign in to it."""

    server: dict[str, Any]
    """The `mcp_server_info` with the protocol that the server supports."""
    name: str
    """A name for the toolset."""
    tools: tuple[dict[str, Any], ...]
    needs_sign_in: bool = False
    message: str = ""


UNREACHABLE = "cannot be reached."
"""The error message for a server that is down ends with this text. The message for a blocked server
ends differently.
"""


def server_tools(written: Any, bucket: str) -> ServerTools:
    """Connect to the MCP server as a run by this user would, and return its tools. Raises
    `SourceInvalid` if that fails.

    If `written` has no protocol, tries both protocols, the more likely one first.
    """
    if not isinstance(written, dict):
        raise SourceInvalid("Enter the URL of a server, or choose one.")
    is_old = str(written.get("url", "")).rstrip("/").endswith("/sse")
    guesses = ("sse", "streamable_http") if is_old else ("streamable_http", "sse")
    failures = []
    for protocol in (written["protocol"],) if written.get("protocol") else guesses:
        server = {**written, "protocol": protocol}
        try:
            listed = async_to_sync(list_server)(check_server(server), bucket, SECONDS)
        except ToolError as error:
            if isinstance(error.__cause__, ConnectionFailed) and error.__cause__.needs_sign_in:
                return ServerTools(server, name_of(server), (), True, SIGN_IN)
            failures.append(str(error))
        except TimeoutError:
            failures.append("The server timed out.")
        except (QuickAppError, AddressInvalid) as error:
            raise SourceInvalid(str(error)) from error
        else:
            name = listed.server_name or name_of(server)
            return ServerTools(server, name, tuple(map(describe_tool, listed.tools)))
    advice = " Check the URL and whether the server is running."
    raise SourceInvalid(failures[0] + (advice if failures[0].endswith(UNREACHABLE) else ""))


def check_server(server: dict[str, Any]) -> McpServerInfo:
    try:
        return McpServerInfo.model_validate(server)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        location = ".".join(map(str, first["loc"]))
        raise SourceInvalid(f"{location or 'The server'}: {first['msg']}.") from None


def describe_tool(tool: Tool) -> dict[str, Any]:
    """Return the server's description of a tool. Its hints about side effects are not verified."""
    hints = tool.annotations
    return {
        "name": tool.name,
        "description": tool.description or tool.title or "",
        "parameters": list((tool.input_schema or {}).get("properties") or {}),
        "reads_only": bool(hints and hints.read_only_hint),
        "may_destroy": bool(hints and hints.destructive_hint and not hints.read_only_hint),
    }


def name_of(server: dict[str, Any]) -> str:
    host = urlsplit(str(server.get("url", ""))).hostname or ""
    if host.replace(".", "").isdigit():
        return "server"
    labels = [part for part in host.split(".") if part not in COMMON_LABELS]
    return sanitize(str(server.get("server") or (labels[-1] if labels else "server")))
