"""A real MCP server whose tools answer, hold a connection, or close it.

python mcp_server.py http

It uses nothing of the project. Over HTTP, it listens on a free loopback port and prints the port.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from urllib.parse import urlsplit

import uvicorn
from mcp.server import MCPServer

server = MCPServer("load", log_level="CRITICAL")


@server.tool(description="Says it again.")
def echo(mark: str) -> str:
    return f"echo {mark}"


@server.tool(description="Holds a connection for as long as it is wanted.")
async def hold(url: str) -> str:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nhost: w\r\n\r\n".encode())
        await reader.read()
    finally:
        writer.close()
    return "held"


@server.tool(description="Ends the whole server.")
def die() -> str:
    os._exit(3)


def serve(protocol: str) -> None:
    if protocol == "stdio":
        server.run("stdio")
        return
    app = server.sse_app() if protocol == "sse" else server.streamable_http_app()
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - the test reads it
    config = uvicorn.Config(app, log_level="error", lifespan="on")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(sys.argv[1])
