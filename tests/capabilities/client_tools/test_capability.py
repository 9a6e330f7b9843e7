"""T-30…T-36: tools that the page runs, in the manifest and in a run."""

from typing import Any

import pytest
from msgspec import structs

from apps.agent.events import Event, StageDelta, StageOpened
from apps.agent.ledger import EVERY_KIND, InteractionRequest
from apps.agent.tools import Invocation, PendingResult, Tool, ToolResult, ToolSpec
from apps.capabilities.client_tools.capability import FAILED, TIMED_OUT, client_tools
from apps.errors import InvalidParameter
from tests.capabilities.manifests import CALLER, OTHERWISE, manifest, opening_for
from tests.contract import proves

FIELD = {"type": "string", "description": "Its name."}
PARAMETERS = {
    "type": "object",
    "properties": {"field": FIELD, "times": {"type": "integer", "default": 1}},
    "required": ["field"],
}
FILL = {"name": "shop.fill", "description": "Fills in a field.", "parameters": PARAMETERS}


def tools(*, surface: Any = "page", is_kept: bool = True, **fields: Any) -> tuple[Tool, ...]:
    toolset = {"type": "client", "name": {"en": "Shop", "de": "Laden"}, "tools": [FILL], **fields}
    opener = client_tools.prepare(manifest(toolset))
    if opener is None:
        return ()
    caller = CALLER.at(surface=surface, locale="de")
    can_ask = EVERY_KIND if is_kept else frozenset()
    manager: Any = opener(structs.replace(opening_for(), can_ask=can_ask, caller=caller))
    found: tuple[Tool, ...] = manager.enter_result.tools
    return found


def tool(**fields: Any) -> Tool:
    (found,) = tools(tools=[{**FILL, **fields}])
    return found


@proves("T-30")
def test_the_model_is_told_of_a_tool_as_it_is_declared_under_a_name_that_it_may_have():
    found = tool()

    assert found.spec == ToolSpec("shop_fill", "Fills in a field.", found.spec.parameters)
    assert found.spec.parameters["required"] == ["field"]
    assert (found.toolset, found.is_repeatable) == ("tool_sets[0]", True)


@proves("R-11")
@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 1),
        ({"surface": ""}, 0),
        ({"is_kept": False}, 0),
        ({"enabled": False}, 0),
        ({"tools": [{**FILL, "enabled": False}]}, 0),
    ],
)
def test_only_a_run_of_a_whole_page_has_the_tools(options, count):
    assert len(tools(**options)) == count


@pytest.mark.parametrize(("fields", "seconds"), [({}, 90), ({"seconds": 5}, 5)])
async def test_a_call_waits_for_the_page_with_checked_arguments(fields, seconds):
    (found,) = tools(**fields)
    events: list[Event] = []

    result = await found.call(Invocation("c", {"field": "amount"}, emit=events.append))

    asked = {
        "name": "shop.fill",
        "title": "Laden · shop.fill",
        "arguments": {"field": "amount", "times": 1},
        "is_repeatable": False,
        "permission": "",
    }
    assert result == PendingResult(
        interactions=(InteractionRequest("", "client_tool", asked, seconds),)
    )
    assert events == []


async def answered(answer: dict[str, Any], events: list[Event]) -> ToolResult:
    given = InteractionRequest("t:1:0:c", "client_tool", {}, answer=answer)
    invocation = Invocation(
        "c", {"field": "amount"}, emit=events.append, answers={"client_tool": given}
    )
    return await tool().call(invocation)


@pytest.mark.parametrize(
    ("answer", "content", "content_type"),
    [
        ({"outcome": "done", "result": "Filled."}, "Filled.", "text/plain"),
        ({"outcome": "done", "result": {"ü": 1}}, '{"ü": 1}', "application/json"),
        ({"outcome": "done"}, "null", "application/json"),
    ],
)
async def test_the_model_gets_what_the_page_answered_and_people_see_it(
    answer, content, content_type
):
    events: list[Event] = []

    result = await answered(answer, events)

    assert result == ToolResult(content, content_type)
    assert [one.title for one in events if isinstance(one, StageOpened)] == ["Laden · shop.fill"]
    shown = "".join(one.text for one in events if isinstance(one, StageDelta))
    assert f"#### Result:\n\n```{'' if content_type == 'text/plain' else 'json'}\n" in shown


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"outcome": "failed", "error": "No such field."}, f"{FAILED}No such field."),
        ({"outcome": "failed", "error": ""}, f"{FAILED}?"),
        ({"outcome": "timeout"}, TIMED_OUT),
    ],
)
async def test_what_went_wrong_on_the_page_is_told_as_a_failed_call(answer, text):
    result = await answered(answer, [])

    assert result.content == f"{text}{OTHERWISE}"
    assert result.failure is not None


async def test_wrong_arguments_are_shown_and_never_reach_the_page():
    events: list[Event] = []

    with pytest.raises(InvalidParameter, match="Parameter times is invalid"):
        await tool().call(Invocation("c", {"field": "a", "times": "x"}, emit=events.append))

    assert isinstance(events[0], StageOpened)
