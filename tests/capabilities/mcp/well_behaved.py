"""A real MCP server with every feature.

python well_behaved.py http [PORT]

The first argument is `http`, `sse` or `stdio`. Over HTTP, it listens on that loopback port, or on a
free one, and prints the port. It uses nothing of the project.
"""

import asyncio
import base64
import socket
import sys
from collections import Counter
from typing import Annotated, Any

import mcp_types as types
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

server = MCPServer("bits", instructions="Ask for bits politely.", log_level="CRITICAL")
counters: Counter[str] = Counter()
seen: Counter[str] = Counter()


class Point(BaseModel):
    x: int
    y: int = 0


class Name(BaseModel):
    name: str


@server.tool(description="")
def add(a: int, b: Annotated[int, Field(description="The other one")] = 1) -> str:
    return str(a + b)


@server.tool(description="Moves a point.")
def move(point: Point) -> str:
    return f"{point.x},{point.y}"


@server.tool(description="Counts within the session.")
def count(ctx: Context[Any, Any]) -> str:
    session = (ctx.headers or {}).get("mcp-session-id", "only")
    counters[session] += 1
    return str(counters[session])


@server.tool(description="Tells headers.")
def headers(ctx: Context[Any, Any]) -> str:
    told = ctx.headers or {}
    return " ".join(f"{name}={told[name]}" for name in ("authorization", "x-trace") if name in told)


@server.tool(description="Reads files.")
def peruse(
    file: Annotated[str, Field(json_schema_extra={"dial_url": True})],
    others: Annotated[list[str], Field(json_schema_extra={"dial_url": True})] = [],  # noqa: B006
) -> str:
    return f"{file} and {len(others)} others"


@server.tool(description="Needs a service behind it.", structured_output=False)
def guarded(ctx: Context[Any, Any]) -> types.CallToolResult:
    text = [types.TextContent(type="text", text="a service wants a sign-in")]
    if (ctx.headers or {}).get("x-service") == "signed in":
        return types.CallToolResult(content=[types.TextContent(type="text", text="served")])
    wanted = {"method": "external-service/signin", "scope": "desk/mail"}
    challenges = [{"method": "other", "scope": "no"}, wanted, wanted, {"method": 7}, "nonsense"]
    meta = {"dial.epam.com/auth-challenge": challenges}
    return types.CallToolResult(content=text, is_error=True, _meta=meta)


@server.tool(description="Fails.")
def fail() -> str:
    raise ToolError("no luck today")


def stumble() -> str:
    seen["stumbled"] += 1
    if seen["stumbled"] % 2:
        raise ToolError("stumbled")
    return "walked"


server.add_tool(
    stumble, "look", description="Reads.", annotations=types.ToolAnnotations(read_only_hint=True)
)
server.add_tool(stumble, "act", description="Acts.")


@server.tool(description="Shows everything.", structured_output=False)
def show() -> list[Any]:
    data = base64.b64encode(PIXEL).decode()
    return [
        types.TextContent(type="text", text="first"),
        types.TextContent(type="text", text=""),
        types.ImageContent(type="image", data=data, mime_type="image/png"),
        types.AudioContent(type="audio", data=data, mime_type="audio/wav"),
        types.EmbeddedResource(
            type="resource",
            resource=types.TextResourceContents(uri="bits://a", text="a,b", mime_type="text/csv"),
        ),
        types.EmbeddedResource(
            type="resource", resource=types.BlobResourceContents(uri="bits://b", blob="!!!")
        ),
        types.ResourceLink(
            type="resource_link",
            name="c",
            uri="bits://c",
            mime_type="text/plain",
            description="see",
        ),
        types.TextContent(type="text", text="last"),
    ]


@server.tool(description="Only structured.", structured_output=False)
def structured() -> types.CallToolResult:
    return types.CallToolResult(content=[], structured_content={"n": 1})


@server.tool(description="Only a picture, in blocks and mirrored.", structured_output=False)
def mirrored() -> types.CallToolResult:
    data = base64.b64encode(PIXEL * 100).decode()
    block = types.ImageContent(type="image", data=data, mime_type="image/png")
    mirror = {"result": [block.model_dump(mode="json", by_alias=True)]}
    return types.CallToolResult(content=[block], structured_content=mirror)


@server.tool(description="A picture without a block.", structured_output=False)
def embedded() -> types.CallToolResult:
    data = base64.b64encode(PIXEL * 100).decode()
    found = {
        "name": "pixel",
        "mimeType": "image/png",
        "data": data,
        "icon": f"data:image/png;base64,{data}",
    }
    return types.CallToolResult(
        content=[types.TextContent(type="text", text="")], structured_content=found
    )


@server.tool(description="Says a lot.", structured_output=False)
def shout(length: int) -> str:
    return "x" * length


@server.tool(description="Works in steps.")
async def steps(ctx: Context[Any, Any]) -> str:
    await ctx.report_progress(1, 2, "half way")
    await ctx.report_progress(2, 2)
    return "done"


@server.tool(description="Waits for ever.")
async def wait(ctx: Context[Any, Any]) -> str:
    await ctx.report_progress(0, 1, "waiting")
    try:
        await asyncio.Event().wait()
    finally:
        seen["cancelled"] += 1
    return "never"


@server.tool(description="How often `wait` was cancelled.")
def cancelled() -> str:
    return str(seen["cancelled"])


@server.tool(description="What the client said that it can do.")
def capabilities(ctx: Context[Any, Any]) -> str:
    told = ctx.session.client_params
    return told.capabilities.model_dump_json(exclude_none=True) if told is not None else "nothing"


@server.tool(description="Asks for a name.")
async def ask(ctx: Context[Any, Any]) -> str:
    answer = await ctx.elicit("Your name?", Name)
    return answer.action


@server.tool(description="Gets another tool.")
async def grow(ctx: Context[Any, Any]) -> str:
    server.add_tool(cancelled, name="grown", description="New.")
    await ctx.session.send_tool_list_changed()
    return "grown"


@server.resource(
    "bits://rules", name="rules", description="How to use bits", mime_type="text/plain"
)
def rules() -> str:
    return "Be gentle."


@server.resource("bits://pixel", name="pixel", mime_type="image/png")
def pixel() -> bytes:
    return PIXEL


def serve(server: MCPServer, protocol: str, port: str = "0") -> None:
    if protocol == "stdio":
        server.run("stdio")
        return
    app = server.sse_app() if protocol == "sse" else server.streamable_http_app()
    listening = socket.create_server(("127.0.0.1", int(port)))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - the test reads it
    config = uvicorn.Config(app, log_level="error", lifespan="on")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(server, *sys.argv[1:])
