"""Paginated lists of servers."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
from mcp import Client
from msgspec.structs import replace

from apps.capabilities.mcp.capability import mcp
from apps.capabilities.mcp.sessions import slots
from apps.capabilities.mcp.sessions.listings import LATE, read_tools
from tests.capabilities.manifests import manifest, opened_together, opening_for
from tests.capabilities.mcp.desk import answering, desk_before, messages, opened_desk
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Answer, Reply, Seen, json_reply, serving
from tests.contract import proves
from tests.tables import each_row


class Paged:
    """Has two pages of tools."""

    async def list_tools(self, *, cursor: str | None) -> types.ListToolsResult:
        names, more = {None: (("one", "two"), "2"), "2": (("three",), None)}[cursor]
        schema: dict[str, Any] = {"type": "object"}
        tools = [types.Tool(name=name, input_schema=schema) for name in names]
        return types.ListToolsResult(tools=tools, next_cursor=more)


@proves("G-41")
async def test_a_list_is_read_page_by_page_g_41():
    found: dict[str, types.Tool] = {}

    is_partial = await read_tools(cast(Client, Paged()), found, [])

    assert list(found) == ["one", "two", "three"]
    assert not is_partial


def paging(pages: Mapping[str | None, Mapping[str, Any]]) -> Answer:
    """Serve a list with these pages by cursor, each a result or an error."""
    inner = answering(Reply(200))

    async def answer(seen: Seen) -> Reply:
        reply = await inner(seen)
        if b'"tools/list"' not in seen.body:
            return reply
        asked = json.loads(seen.body)
        page = pages[(asked.get("params") or {}).get("cursor")]
        return json_reply(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **page}))

    return answer


def listing(name: str, cursor: str | None = None) -> dict[str, Any]:
    tools = [{"name": name}] if name else []
    return {"result": {"tools": tools, **({} if cursor is None else {"nextCursor": cursor})}}


@each_row(
    ("pages", "names"),
    [
        ({None: listing("first", ""), "": listing("second")}, ["desk_first", "desk_second"]),
        (
            {None: listing("first", "1"), "1": listing("", "2"), "2": listing("last")},
            ["desk_first", "desk_last"],
        ),
    ],
)
async def test_an_empty_cursor_and_an_empty_page_do_not_end_a_list(pages, names):
    async with desk_before(answer=paging(pages)) as contribution:
        assert [tool.spec.name for tool in contribution.tools] == names
        assert messages(contribution) == []


PAGE_1 = {"result": {"tools": [{"name": "one"}], "nextCursor": "1"}}
UNREADABLE = "the server's response does not follow the protocol."
REFUSED = "page 2 of the server's list could not be read, and the tools from there on are left out:"


@each_row(
    ("second", "problem"),
    [
        (
            {"result": {"tools": None}},
            "a page of the server's list has no tools: it is null, not a list.",
        ),
        (
            {"result": {"tools": "no"}},
            "a page of the server's list has no tools: it is a text, not a list.",
        ),
        ({"result": {}}, f"{REFUSED} the server's response does not follow the protocol."),
        ({"result": {"more": 1}}, f"{REFUSED} the server's response does not follow the protocol."),
        ({"error": {"code": -32603, "message": "Out of order"}}, f"{REFUSED} Out of order"),
    ],
)
async def test_a_page_that_cannot_be_read_leaves_the_tools_of_the_others(second, problem, caplog):
    async with desk_before(answer=paging({None: PAGE_1, "1": second})) as contribution:
        names = [tool.spec.name for tool in contribution.tools]
        issues = messages(contribution)

    assert names == ["desk_one"]
    assert issues == [f"Toolset desk: {problem}"]
    assert any(problem in message for message in caplog.messages)


async def test_a_list_without_tools_is_named():
    async with desk_before(answer=paging({None: {"result": {"tools": None}}})) as contribution:
        assert contribution.tools == ()
        assert messages(contribution) == [
            "Toolset desk: a page of the server's list has no tools: it is null, not a list."
        ]


async def test_a_list_that_failed_in_part_is_read_again_by_the_next_run():
    pages: dict[str | None, Mapping[str, Any]] = {
        None: PAGE_1,
        "1": {"error": {"code": -32603, "message": "Busy"}},
    }

    async with nothing_left_over(), serving(answer=paging(pages)) as service:
        async with opened_desk(over_http(service.url)) as contribution:
            first = [tool.spec.name for tool in contribution.tools]
        pages["1"] = {"result": {"tools": [{"name": "two"}]}}
        async with opened_desk(over_http(service.url)) as contribution:
            second = [tool.spec.name for tool in contribution.tools]

    assert (first, second) == (["desk_one"], ["desk_one", "desk_two"])


async def test_a_page_that_does_not_come_in_time_leaves_the_tools_of_the_others(
    monkeypatch, caplog
):
    monkeypatch.setattr(slots, "LIST_SECONDS", 3.0)
    asked: list[str] = []
    hold = asyncio.Event()
    inner = paging({None: PAGE_1, "1": {"result": {"tools": []}}})

    async def answer(seen: Seen) -> Reply:
        if b'"tools/list"' in seen.body:
            asked.append("page 2" if b'"cursor"' in seen.body else "page 1")
            if asked[-1] == "page 2":
                await hold.wait()
        return await inner(seen)

    async with nothing_left_over(), serving(answer=answer) as service:
        found = []
        for _ in range(2):
            async with opened_desk(over_http(service.url)) as contribution:
                names = [tool.spec.name for tool in contribution.tools]
                found.append((names, messages(contribution)))
        hold.set()

    assert found == [(["desk_one"], [f"Toolset desk: {LATE}"])] * 2
    assert asked == ["page 1", "page 2"]
    assert any(f"{service.url} failed after 3 s: " in message for message in caplog.messages)


@each_row(
    ("first", "told", "issue"),
    [
        ({"result": {"tools": []}}, "desk: its server lists no tools.", []),
        (
            {"result": {}},
            f"Toolset desk: {UNREADABLE}",
            [f"Toolset desk: {UNREADABLE}"],
        ),
    ],
)
async def test_a_server_without_tools_is_logged_once(first, told, issue, caplog):
    async with nothing_left_over(), serving(answer=paging({None: first})) as service:
        for _ in range(2):
            async with opened_desk(over_http(service.url)) as contribution:
                assert messages(contribution) == issue

    lines = [one for one in caplog.messages if told in one]
    assert lines == [f"Application (unnamed), MCP server {service.url}: {told}"]


async def test_what_is_left_out_is_logged_once_for_each_application_with_its_server(caplog):
    async with (
        nothing_left_over(),
        serving(answer=paging({None: {"result": {"tools": [{"name": 5}]}}})) as service,
    ):
        document = manifest(over_http(f"{service.url}?token=s3cret"))
        for application in ("first", "second", "first"):
            opening = replace(opening_for(), application=application)
            async with opened_together(document, opening, mcp):
                pass

    told = "Toolset desk: the tool number 1 is left out: name is a number, not a text."
    assert [one for one in caplog.messages if "left out" in one] == [
        f"Application first, MCP server {service.url}: {told}",
        f"Application second, MCP server {service.url}: {told}",
    ]
