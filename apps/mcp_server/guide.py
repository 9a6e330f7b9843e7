"""Defines the guide to the MCP server."""

from apps.doors.guides import DoorGuide, Snippet, Trial

MCP = DoorGuide(
    "mcp",
    "MCP server",
    "Use the MCP server to call the application as a tool from IDEs and assistants. {origin}/mcp offers all your applications as tools.",
    "{origin}/mcp/{slug}",
    "mcp-server.md",
    (
        Snippet(
            "MCP client configuration",
            "json",
            """\
{
  "mcpServers": {
    "{slug}": {
      "type": "http",
      "url": "{origin}/mcp/{slug}",
      "headers": { "Authorization": "Bearer ${QUICKAPPS_KEY}" }
    }
  }
}""",
        ),
        Snippet(
            "Claude Code",
            "sh",
            """\
claude mcp add --transport http {slug} {origin}/mcp/{slug} \\
  --header "Authorization: Bearer $QUICKAPPS_KEY\"""",
        ),
        Snippet(
            "Python",
            "python",
            """\
import asyncio
import os

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    headers = {"Authorization": "Bearer " + os.environ["QUICKAPPS_KEY"]}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(
            "{origin}/mcp/{slug}", http_client=http
        )
        async with Client(transport) as client:
            result = await client.call_tool("{slug}", {"message": "Hello"})
    print(result.content[0].text)


asyncio.run(main())""",
        ),
    ),
    Trial(
        "{origin}/mcp/{slug}",
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
        '{"name": "{slug}", "arguments": {"message": {message}}}}',
        (
            ("MCP-Protocol-Version", "2025-11-25"),
            ("Accept", "application/json, text/event-stream"),
        ),
    ),
)
