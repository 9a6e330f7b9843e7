"""Failures that a server does not mark, with the toolset for a search server."""

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from django.conf import settings

from apps.agent.tools import Tool
from apps.capabilities.mcp.calls.results import failure_in
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Opening
from apps.errors import ToolError
from apps.manifest.toolsets.tools import apply_patch
from tests.capabilities.manifests import CALLER, OTHERWISE, manifest, opened, opening_for, use
from tests.capabilities.mcp.servers import HERE, nothing_left_over, register, serving_apart
from tests.contract import proves

SEARCHING = str(HERE / "searching.py")
REFUSED = "Error: Refusing to fetch http://127.0.0.1/ (it resolves to a non-public address)."


def predefined(**override: Any) -> Any:
    path = Path(settings.BASE_DIR) / "predefined/toolset/duckduckgo.json"
    return apply_patch(json.loads(path.read_text(encoding="utf-8")), override)


async def check(tools: dict[str, Tool]) -> None:
    """Check that the search server's tools fail according to their texts, not to the marks."""
    found = await use(tools["ddg_search"], query="harbours", max_results=3)
    nothing = await use(tools["ddg_search"], query="cats")
    page = await use(tools["ddg_fetch_content"], url="http://127.0.0.1/")
    link = await use(tools["ddg_expand_link"], token="abc")

    assert (found.failure, link.content) == (None, "https://example.org/abc")
    assert found.content == "Found 3 results\n\n1. Error: how harbours fail"
    assert isinstance(nothing.failure, ToolError)
    assert nothing.content.startswith("No results were found for your search query.")
    assert isinstance(page.failure, ToolError)
    assert page.content == f"{REFUSED}{OTHERWISE}"


@proves("G-46")
@pytest.mark.django_db
async def test_the_search_toolset_works_with_a_program():
    await register(SEARCHING, "stdio", name="duckduckgo")

    async with nothing_left_over(), opened(mcp, manifest(predefined())) as contribution:
        assert contribution.issues == ()
        await check({tool.spec.name: tool for tool in contribution.tools})


@proves("G-46")
@pytest.mark.django_db
async def test_the_search_toolset_works_over_http():
    with serving_apart("http", SEARCHING) as url:
        server = {"protocol": "streamable_http", "url": url, "server": None}
        toolset = predefined(mcp_server_info=server)
        async with nothing_left_over(), opened(mcp, manifest(toolset)) as contribution:
            assert contribution.issues == ()
            await check({tool.spec.name: tool for tool in contribution.tools})


@proves("G-46")
@pytest.mark.django_db
async def test_what_was_found_on_the_web_is_not_trusted():
    await register(SEARCHING, "stdio", name="duckduckgo")
    opening: Opening = opening_for(CALLER)
    opener = mcp.prepare(manifest(predefined()))
    assert opener is not None

    async with nothing_left_over(), opener(opening) as contribution:
        (search, *_) = contribution.tools
        await use(search, query="harbours")

    assert search.spec.name in str(opening.taint)


@pytest.mark.parametrize(
    ("text", "beginnings", "is_failure"),
    [
        ("Error: no", ["Error:"], True),
        ("\n error: no", ["ERROR:"], True),
        ("No error: fine", ["Error:"], False),
        ("", ["Error:"], False),
        ("Error: no", [], False),
        ("Anything", ["", "  "], False),
    ],
)
def test_a_text_is_a_failure_by_its_beginning(text, beginnings, is_failure):
    block = types.TextContent(type="text", text=text)

    assert failure_in(types.CallToolResult(content=[block]), beginnings) is is_failure
