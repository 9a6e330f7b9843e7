"""A real MCP server for toolsets.

python mcp_server.py [HEADER VALUE]

It listens on a free loopback port and prints the port. With a header, it returns 401 for requests
without that value.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.sites.fork_server import serving

server = MCPServer("desk", log_level="CRITICAL")


@server.tool(description="Adds.")
def add(a: int, b: int) -> str:
    return str(a + b)


@server.tool(description="Takes away.")
def subtract(a: int, b: int) -> str:
    return str(a - b)


@server.tool(description="Names the headers that came.")
def headers(ctx: Context[Any, Any]) -> str:
    return " ".join(sorted(ctx.headers or {}))


def guarded(app: ASGIApp, name: str, value: str) -> ASGIApp:
    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        expected = (name.lower().encode(), value.encode())
        if scope["type"] == "http" and expected not in scope["headers"]:
            challenge = {"www-authenticate": 'Bearer realm="desk"'}
            await PlainTextResponse("Who are you?", 401, challenge)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return guard


@contextmanager
def serve_mcp(*header: str) -> Iterator[str]:
    """Serve it within the block. Yields the address of the endpoint."""
    with serving(__file__, *header) as port:
        yield f"http://127.0.0.1:{port}/mcp"


def main(*header: str) -> None:
    app: ASGIApp = server.streamable_http_app()
    if header:
        app = guarded(app, *header)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - this is how the port is told
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_keep_alive=120)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
