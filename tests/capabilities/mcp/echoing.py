"""A real MCP server that repeats its requests wherever it can.

python echoing.py http

python echoing.py sse
"""

import sys
from typing import Any

import mcp_types as types
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from well_behaved import serve  # type: ignore[import-not-found]  # it is beside this script

server = MCPServer("echoes", log_level="CRITICAL")
said: dict[str, str] = {}


def told(ctx: Context[Any, Any]) -> str:
    said["last"] = " ".join(
        f"{name}={value}" for name, value in sorted((ctx.headers or {}).items())
    )
    return said["last"]


@server.tool(description="Says it.", structured_output=False)
async def everything(ctx: Context[Any, Any]) -> types.CallToolResult:
    text = told(ctx)
    await ctx.report_progress(1, 2, f"asked with {text}")
    resource = types.TextResourceContents(uri="echo://a", text=text, mime_type="text/plain")
    link = types.ResourceLink(type="resource_link", name="a", uri="echo://a", description=text)
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text=text),
            types.EmbeddedResource(type="resource", resource=resource),
            link,
        ],
        structured_content={text: text},
    )


@server.tool(description="Says it in a structure alone.", structured_output=False)
def structured(ctx: Context[Any, Any]) -> types.CallToolResult:
    return types.CallToolResult(content=[], structured_content={"asked": [told(ctx)]})


@server.tool(description="Fails with it.")
def fail(ctx: Context[Any, Any]) -> str:
    raise ToolError(f"not with {told(ctx)}")


@server.tool(description="Refuses with it.")
def refuse(ctx: Context[Any, Any]) -> str:
    raise MCPError(code=-32000, message=f"never with {told(ctx)}")


@server.resource("echo://last", name="last")
def last() -> str:
    return said.get("last", "")


if __name__ == "__main__":
    serve(server, sys.argv[1])
