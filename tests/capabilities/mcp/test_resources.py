"""Resources are listed in the prompt, read by the model, or read in advance."""

from collections.abc import Sequence
from typing import Any

import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.capabilities.mcp.resources import inject_all, read_ahead
from apps.errors import InvalidParameter
from tests.capabilities.manifests import Files, use
from tests.capabilities.mcp.desk import opened_desk
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.contract import proves

SYSTEM, FIRST, ANSWER, SECOND = (
    ModelMessage("system", "You help."),
    ModelMessage("user", "Hello"),
    ModelMessage("assistant", "Hi"),
    ModelMessage("user", "And?"),
)


def with_resources(url: str, items: Sequence[Any] | None = None, **rest: Any) -> dict[str, Any]:
    resources = {"enabled": True, "items": items}
    return over_http(url, allowed_tools=["add"], resources=resources, **rest)


@proves("9.7")
async def test_what_can_be_read_is_listed_in_the_prompt(http_url):
    async with nothing_left_over(), opened_desk(with_resources(http_url)) as contribution:
        assert [tool.spec.name for tool in contribution.tools] == ["desk_add", "read_mcp_resource"]
        assert contribution.instructions == (
            "Resources that the tool read_mcp_resource can read:\n\n"
            "- desk: rules (URI: bits://rules, text/plain): How to use bits\n"
            "- desk: pixel (URI: bits://pixel, image/png)",
        )


@proves("9.7")
async def test_resources_are_off_unless_they_are_asked_for(http_url):
    off = with_resources(http_url)
    off["resources"]["enabled"] = False

    async with nothing_left_over(), opened_desk(off) as contribution:
        assert [tool.spec.name for tool in contribution.tools] == ["desk_add"]
        assert contribution.instructions == ()


@proves("9.7", "G-43")
async def test_a_resource_is_read(http_url):
    files = Files()

    async with (
        nothing_left_over(),
        opened_desk(with_resources(http_url), files=files) as contribution,
    ):
        text = await use(contribution.tools[-1], uri="bits://rules")
        picture = await use(contribution.tools[-1], uri="bits://pixel", toolset="desk")
        missing = await use(contribution.tools[-1], uri="bits://nothing")

    assert text.content == "Be gentle."
    assert picture.content == "See attached files: resource.png"
    assert [attachment.type for attachment in picture.attachments] == ["image/png"]
    assert len(files.kept) == 1
    assert missing.content.startswith("read_mcp_resource: ")


@proves("9.7")
async def test_only_what_the_operator_named_can_be_read(http_url):
    toolset = with_resources(http_url, [{"uri": "bits://rules"}, {"uri": "bits://secret"}])

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        assert "bits://pixel" not in contribution.instructions[0]
        assert "bits://secret" in contribution.instructions[0]
        with pytest.raises(InvalidParameter, match="it is not a readable resource"):
            await use(contribution.tools[-1], uri="bits://pixel")


async def test_a_resource_that_several_have_needs_a_toolset(http_url):
    both = (with_resources(http_url), with_resources(http_url, name="other"))

    async with nothing_left_over(), opened_desk(*both) as contribution:
        tool = contribution.tools[-1]
        with pytest.raises(InvalidParameter, match="use one of 'desk', 'other'"):
            await use(tool, uri="bits://rules")
        with pytest.raises(InvalidParameter, match="unknown toolset 'third'"):
            await use(tool, uri="bits://rules", toolset="third")
        assert (await use(tool, uri="bits://rules", toolset="other")).content == "Be gentle."


@proves("9.7")
async def test_an_eager_resource_is_read_ahead_once(http_url):
    items = [{"uri": "bits://rules", "eager": True}, {"uri": "bits://pixel", "eager": True}]
    toolset = with_resources(http_url, items)

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        (step,) = contribution.history
        messages = await step([SYSTEM, FIRST])
        again = await step([*messages, ANSWER, SECOND])

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[-1].content == "Be gentle."
    assert again == [*messages, ANSWER, SECOND]


@proves("9.7")
async def test_an_eager_resource_that_cannot_be_read_is_a_soft_issue(http_url):
    toolset = with_resources(http_url, [{"uri": "bits://nothing", "eager": True}])

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        (issue,) = contribution.issues
        assert contribution.history == ()

    assert issue.message.startswith("Resource bits://nothing: MCP error for desk: ")
    assert not issue.is_hard


async def test_the_pair_has_an_id_that_is_always_the_same():
    rules = read_ahead("desk", "bits://rules", "Be gentle.")

    messages = await inject_all([rules], [SYSTEM, FIRST, ANSWER, SECOND])

    call = ToolCall(
        "synth_read_mcp_resource_820e368_7695279",
        "read_mcp_resource",
        '{"toolset":"desk","uri":"bits://rules"}',
    )
    assert messages == (
        SYSTEM,
        FIRST,
        ModelMessage("assistant", tool_calls=(call,)),
        ModelMessage("tool", "Be gentle.", tool_call_id=call.id),
        ANSWER,
        SECOND,
    )
    assert len(call.id) <= 40


async def test_a_changed_resource_is_added_at_the_end():
    before = await inject_all([read_ahead("desk", "u", "old")], [FIRST])

    changed = read_ahead("desk", "u", "new")
    after = await inject_all([changed], [*before, ANSWER, SECOND])

    assert list(after[:-2]) == [*before, ANSWER, SECOND]
    assert after[-1].content == "new"
