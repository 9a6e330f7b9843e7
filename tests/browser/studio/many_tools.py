"""A real MCP server over stdio with a given number of tools.

python many_tools.py 60
"""

from __future__ import annotations

import asyncio
import sys
from typing import Literal

from mcp.server import MCPServer

server = MCPServer("many", log_level="CRITICAL")


def repeat(
    query: str, limit: int = 10, kind: Literal["a", "b"] = "a", tags: list[str] | None = None
) -> str:
    return f"**{query}** {limit} {kind} {tags} <script>alert(1)</script>\n\n| a |\n|---|\n| 1 |"


async def sleep() -> str:
    await asyncio.sleep(60)
    return "awake"


if __name__ == "__main__":
    count = int(sys.argv[1])
    for number in range(count):
        long = "It has a description that goes on. " * (60 if number % 7 == 0 else 2)
        server.add_tool(repeat, name=f"tool_{number}", description=f"Is number {number}. {long}")
    if count:
        server.add_tool(sleep, name="sleep", description="Takes a minute.")
    server.run("stdio")
