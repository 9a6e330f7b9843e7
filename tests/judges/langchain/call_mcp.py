"""Calls an application as a tool with LangChain's MCP adapters, and writes what it has seen as
JSON.

The arguments are the server's URL, a key, and the message.
"""

import asyncio
import json
import sys
from typing import Any

from langchain_mcp_adapters.client import (  # type: ignore[import-not-found]
    MultiServerMCPClient,
)


async def main(url: str, key: str, message: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}"}
    server = {"transport": "streamable_http", "url": url, "headers": headers}
    tools = await MultiServerMCPClient({"quickapps": server}).get_tools()
    call = {"name": tools[0].name, "args": {"message": message}, "id": "1", "type": "tool_call"}
    result = await tools[0].ainvoke(call)
    return {
        "tools": [(tool.name, tool.description) for tool in tools],
        "status": result.status,
        "content": result.content,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
