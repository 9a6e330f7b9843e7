"""Lists of servers that come in pages."""

from typing import Any, cast

import mcp_types as types
from mcp import Client

from apps.capabilities.mcp.listings import read_tools
from tests.contract import proves


class Paged:
    """Has two pages of tools."""

    async def list_tools(self, *, cursor: str | None) -> types.ListToolsResult:
        names, more = {None: (("one", "two"), "2"), "2": (("three",), None)}[cursor]
        schema: dict[str, Any] = {"type": "object"}
        tools = [types.Tool(name=name, input_schema=schema) for name in names]
        return types.ListToolsResult(tools=tools, next_cursor=more)


@proves("G-41")
async def test_a_list_is_read_page_by_page_g_41():
    found = await read_tools(cast(Client, Paged()), [])

    assert [tool.name for tool in found] == ["one", "two", "three"]
