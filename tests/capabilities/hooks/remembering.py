"""A memory service that identifies callers by their keys only.

python remembering.py http
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

sys.path.append(str(Path(__file__).parents[1] / "mcp"))
from well_behaved import serve  # type: ignore[import-not-found]

server = MCPServer("memory", log_level="CRITICAL")
kept: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)


def memories(ctx: Context[Any, Any]) -> list[tuple[float, str]]:
    key = (ctx.headers or {}).get("api-key")
    if not key:
        raise ToolError("who is asking?")
    return kept[key]


@server.tool(description="Keeps a fact.")
def store_memory(
    ctx: Context[Any, Any],
    content: str,
    memory_type: Literal["core", "episodic"] = "core",
    context: str = "",
    importance: float = 0.5,
) -> str:
    memories(ctx).append((importance, content))
    return f"Stored: {content}"


@server.tool(description="Finds what was kept.")
def search_archive(ctx: Context[Any, Any], query: str) -> str:
    found = [content for _, content in memories(ctx) if query.lower() in content.lower()]
    return "\n".join(found) or "Nothing was found."


@server.tool(description="Tells what matters most.")
def prime_memories(ctx: Context[Any, Any]) -> str:
    best = sorted(memories(ctx), reverse=True)[:5]
    return "\n".join(content for _, content in best) or "Nothing is kept yet."


@server.tool(description="Tells how to use the memory.")
def get_skill() -> str:
    return "Store facts, search before you answer."


if __name__ == "__main__":
    serve(server, sys.argv[1])
