"""Large tool results are stored in a file."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.messages import Attachment, ToolCall
from apps.agent.tools import ToolResult
from apps.capabilities.wrappers.limits import KEEP_RESULT
from tests.capabilities.files.agents import Agent, agent_on
from tests.contract import proves

CALL = ToolCall("1", "docs_search", "{}")
LARGE = ToolResult(
    "eins\nzwei\ndrei é", "text/markdown", (Attachment("image/png", "a", url="files/x/a.png"),),
    state={"own": 1},
)  # fmt: skip
WANTED: dict[str, Any] = {"size_threshold": 17}


async def stepped(agent: Agent, call: ToolCall, result: ToolResult) -> ToolResult:
    for step in agent.contribution.results:
        result = await step(call, result)
    return result


@proves("14.6")
async def test_a_large_result_is_read_back_from_a_file(workspace):
    agent = await agent_on(workspace, agent_home_dir="desk/", tool_call_result_offload=WANTED)

    found = await stepped(agent, CALL, LARGE)

    attachment = found.attachments[-1]
    assert attachment.url is not None
    path = f"tool_results/{attachment.title}"
    assert found == replace(
        LARGE,
        content=(
            "The result is too large to be shown here (17 bytes, 3 lines). It is in the file "
            f"{path}. Find what you need in it with internal_file_search, or read it in parts "
            f"with internal_file_read_lines (path '{path}', lines counted from 0)."
        ),
        content_type="text/plain",
        attachments=(
            *LARGE.attachments,
            Attachment("text/markdown", attachment.title, url=attachment.url),
        ),
        state={
            "own": 1,
            "offloaded_response": {
                "file_url": f"{await agent.files.home()}desk/{path}",
                "original_size": 17,
                "content_type": "text/markdown",
            },
        },
    )
    assert attachment.title.startswith("docs_search_20")
    assert attachment.title.endswith(".txt")
    assert await agent.use("read_lines", path=path, start_line=2, end_line=3) == (
        f"{path}, lines 2 to 2 of 3:\ndrei é"
    )
    assert await agent.use("search", path=path, pattern="zwei") == (f"{path}: 1 line of 3\n1: zwei")


@proves("14.6", "15")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("docs_search", "eins\nzwei\ndrei e"),
        ("internal_file_read_lines", LARGE.content),
        ("internal_file_search", LARGE.content),
        ("internal_skills_read_skill", LARGE.content),
        ("of_the_application", LARGE.content),
        ("of_the_installation", LARGE.content),
    ],
)
async def test_what_is_small_or_excluded_stays_as_it_is(own, settings, name, content):
    settings.TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS = ["of_the_installation"]
    wanted = {**WANTED, "excluded_tools": ["of_the_application"]}
    agent = await agent_on(own, tool_call_result_offload=wanted)
    result = replace(LARGE, content=content)

    assert await stepped(agent, replace(CALL, name=name), result) == result


async def test_a_result_for_which_there_is_no_room_any_more_is_read_back_from_a_file(own, settings):
    agent = await agent_on(own, tool_call_result_offload=WANTED)
    keep = agent.opening.findings[KEEP_RESULT]

    path = await keep("docs_search", "eins\nzwei")
    settings.FILES_MAX_BYTES_PER_USER = 5

    assert await agent.use("search", path=path, pattern="zwei") == f"{path}: 1 line of 2\n1: zwei"
    assert await keep("internal_file_read_lines", "eins") == ""
    assert await keep("docs_search", "too much") == ""


@proves("14.6")
async def test_a_result_that_cannot_be_kept_stays_as_it_is(own, settings, caplog):
    settings.FILES_MAX_BYTES_PER_USER = 5
    agent = await agent_on(own, tool_call_result_offload=WANTED)

    with caplog.at_level(logging.WARNING, "apps.capabilities.files"):
        assert await stepped(agent, CALL, LARGE) == LARGE

    assert caplog.messages == ["Failed to store the large result of docs_search as a file"]


@proves("14.6")
@pytest.mark.parametrize(
    ("by_default", "wanted", "is_on"),
    [
        (True, {}, True),
        (False, {}, False),
        (False, {"enabled": True}, True),
        (True, {"enabled": False}, False),
        (True, None, False),
    ],
)
async def test_the_installation_decides_where_the_application_does_not_say(
    own, settings, by_default, wanted, is_on
):
    settings.TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT = by_default
    settings.TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD = 17
    agent = await agent_on(own, tool_call_result_offload=wanted)

    found = await stepped(agent, CALL, LARGE)

    assert ("offloaded_response" in found.state) == is_on


@proves("14.6")
async def test_without_the_tools_to_read_them_back_results_stay_and_the_operator_is_told(own):
    agent = await agent_on(own, enabled_tools=["list", "search"], tool_call_result_offload=WANTED)

    [issue] = agent.contribution.issues
    assert issue.is_hard
    assert issue.message == (
        "features.dial_files.tool_call_result_offload: large tool results are not stored as "
        "files, because the model could not read the files. Add read_lines to enabled_tools, or set "
        "tool_call_result_offload to null."
    )
    assert await stepped(agent, CALL, LARGE) == LARGE
    assert [tool.spec.name for tool in agent.contribution.tools] == [
        "internal_file_list",
        "internal_file_search",
    ]
