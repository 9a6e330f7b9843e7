"""A real MCP server that asks the user of a call.

python asking.py http
"""

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from well_behaved import serve  # type: ignore[import-not-found]  # it is beside this script

SEATS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "class": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
        "bags": {"type": "integer", "minimum": 0, "maximum": 3, "default": 1},
        "window": {"type": "boolean", "description": "Beside a window."},
        "meals": {"type": "array", "items": {"enum": ["fish", "rice"]}},
    },
    "required": ["name", "class", "bags"],
}
NAMES = {"type": "object", "properties": {"name": {"type": "string"}}}
NESTED = {"type": "object", "properties": {"where": {"type": "object"}}}
LONG = {
    "type": "object",
    "properties": {"x": {"type": "string", "title": "<b>" * 1_000, "description": "y" * 9_999}},
}


GATE = "https://gate.example.org/open?a=<b>"
LOCKED = ("gate", "wall", "trap", "riddle")
calls_of_gate: list[str] = []


def page(url: str) -> types.ElicitRequestURLParams:
    return types.ElicitRequestURLParams(message="Open the gate.", url=url, elicitation_id="g-1")


def locked(name: str) -> str:
    """Return the answer of a tool that requires a page first. The gate is open every second time."""
    if name == "gate":
        calls_of_gate.append(name)
        if not len(calls_of_gate) % 2:
            return "The gate is open."
    if name == "riddle":
        raise MCPError(types.URL_ELICITATION_REQUIRED, "Locked.", {"elicitations": "x"})
    asked = page("javascript:alert(1)" if name == "trap" else GATE)
    raise UrlElicitationRequiredError([asked], "Locked.")


def told(answer: types.ElicitResult) -> str:
    return json.dumps([answer.action, answer.content])


async def answer(context: Any, name: str) -> str:
    session, id = context.session, context.request_id
    match name:
        case "book":
            return told(await session.elicit_form("Which seat?", SEATS, id))
        case "pay":
            url = "https://pay.example.org/1?a=<b>"
            return told(await session.elicit_url("Pay, please.", url, "p-1", id))
        case _ if name in LOCKED:
            return locked(name)
        case "lure":
            return told(await session.elicit_url("Click.", "javascript:alert(1)", "l-1", id))
        case "both":
            asked = [session.elicit_form(text, NAMES, id) for text in ("First?", "Second?")]
            return " ".join([told(one) for one in await asyncio.gather(*asked)])
        case "nested":
            return told(await session.elicit_form("Where?", NESTED, id))
        case "shout":
            return told(await session.elicit_form("z" * 100_000, LONG, id))
        case _:
            params = session.client_params
            return str(params.capabilities.model_dump_json(exclude_none=True))


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        text = await answer(context, params.name)
    except MCPError as error:
        if error.code == types.URL_ELICITATION_REQUIRED:
            raise
        text = f"refused: {error.error.message}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    schema = {"type": "object", "properties": {}}
    names = [*("book", "pay", "lure", "both", "nested", "shout", "capabilities"), *LOCKED]
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema=schema) for name in names]
    )


server = Server("asking", on_list_tools=list_tools, on_call_tool=call_tool)

if __name__ == "__main__":
    serve(server, *sys.argv[1:])
