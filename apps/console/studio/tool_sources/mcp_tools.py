"""The tools of an MCP server, listed for an operator who is about to choose some of them."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from mcp_types import Tool
from pydantic import ValidationError

from apps.capabilities.mcp.administration import list_server
from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.errors import QuickAppError, ToolError
from apps.manifest.mcp_toolsets import McpServer
from apps.manifest.names import sanitize
from apps.workspace.egress.urls import AddressInvalid

SECONDS = 20.0
SIGN_IN = (
    "The server asks for a sign-in. Say how it is told who is calling: with a token that you keep as "
    "a secret, or by each person's own account."
)
COMMON_LABELS = frozenset({"www", "mcp", "api", "com", "org", "net", "io", "dev", "ai", "app"})


@dataclass(frozen=True, slots=True)
class ServerTools:
    """`server` is how it was reached, as a manifest writes it; `name` is one for the toolset."""

    server: dict[str, Any]
    name: str
    tools: tuple[dict[str, Any], ...]
    needs_sign_in: bool = False
    message: str = ""


UNREACHABLE = "cannot be reached."
"""What the transport says of a server that is down, in contrast to one that is forbidden."""


def server_tools(written: Any, bucket: str) -> ServerTools:
    """Connect as a run of this person would. Raises `SourceInvalid`.

    An address without a protocol is tried with both, the likelier one first.
    """
    if not isinstance(written, dict):
        raise SourceInvalid("Give the address of a server, or choose one.")
    is_old = str(written.get("url", "")).rstrip("/").endswith("/sse")
    guesses = ("sse", "streamable_http") if is_old else ("streamable_http", "sse")
    failures = []
    for protocol in (written["protocol"],) if written.get("protocol") else guesses:
        server = {**written, "protocol": protocol}
        try:
            listed = async_to_sync(list_server)(checked(server), bucket, SECONDS)
        except ToolError as error:
            if isinstance(error.__cause__, ConnectionFailed) and error.__cause__.needs_sign_in:
                return ServerTools(server, name_of(server), (), True, SIGN_IN)
            failures.append(str(error))
        except TimeoutError:
            failures.append("The server did not answer in time.")
        except (QuickAppError, AddressInvalid) as error:
            raise SourceInvalid(str(error)) from error
        else:
            name = listed.server_name or name_of(server)
            return ServerTools(server, name, tuple(map(described, listed.tools)))
    advice = " Check the address, and that the server is running."
    raise SourceInvalid(failures[0] + (advice if failures[0].endswith(UNREACHABLE) else ""))


def checked(server: dict[str, Any]) -> McpServer:
    try:
        return McpServer.model_validate(server)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise SourceInvalid(f"{place or 'The server'}: {first['msg']}.") from None


def described(tool: Tool) -> dict[str, Any]:
    """What the server says of a tool; what it says of its effects is only its own word."""
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
