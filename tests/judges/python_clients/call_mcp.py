"""Calls an application as a tool with FastMCP's client, and writes what it has seen as JSON.

The arguments are the server's URL, a key, the name of the tool, and the message.
"""

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client  # type: ignore[import-not-found]
from fastmcp.client.transports import StreamableHttpTransport  # type: ignore[import-not-found]
from mcp import MCPError


async def main(url: str, key: str, name: str, message: str) -> dict[str, Any]:
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {key}"})
    async with Client(transport) as client:
        tools = [(tool.name, tool.title) for tool in await client.list_tools()]
        try:
            result = await client.call_tool(name, {"message": message}, raise_on_error=False)
        except MCPError as failure:
            return {"tools": tools, "error": str(failure)}
        texts = [block.text for block in result.content]
        return {
            "tools": tools,
            "texts": texts,
            "structured": result.structured_content,
            "is_error": result.is_error,
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
