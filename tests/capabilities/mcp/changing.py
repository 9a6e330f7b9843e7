"""A real MCP server whose tool descriptions its caller can change.

python changing.py http

`describe` sets the description of `lend` for callers with one `x-tenant`.
"""

import sys
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from well_behaved import serve  # type: ignore[import-not-found]  # it is beside this script

said: dict[str, str] = {}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
NO_ARGUMENTS = {"type": "object", "properties": {}}


def tenant(context: Any) -> str:
    found: str = context.request.headers.get("x-tenant", "")
    return found


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    described = said.get(tenant(context), f"Lends books to {tenant(context) or 'everybody'}.")
    tools = [
        types.Tool(name="describe", description="Changes.", input_schema=TEXT),
        types.Tool(name="lend", description=described, input_schema=NO_ARGUMENTS),
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "describe":
        said[tenant(context)] = str((params.arguments or {})["text"])
    return types.CallToolResult(content=[types.TextContent(type="text", text="done")])


server = Server("library", on_list_tools=list_tools, on_call_tool=call_tool)

if __name__ == "__main__":
    serve(server, sys.argv[1])
