"""Calls of a deployment: the request, the stages and the result."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.events import (
    Event,
    ModelUsage,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
)
from apps.agent.messages import Attachment, ModelMessage, to_dicts
from apps.agent.stages import silent
from apps.agent.tools import ToolResult
from apps.capabilities.deployment.capability import deployment
from apps.capabilities.deployment.targets import Target
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import SEE_PICTURES
from apps.capabilities.wrappers.failure_handling import ANOTHER_WAY
from apps.capabilities.wrappers.model_failures import tool_error
from apps.errors import ModelFailed, Stopped
from tests.capabilities.deployment.scripts import (
    CALLER,
    ECHO,
    chunk,
    echo,
    one_tool,
    simple,
    team,
    use,
    written,
)
from tests.capabilities.manifests import manifest, stage_text, timeless
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, finish, saying, text
from tests.tables import each_row

CHART = {"type": "image/png", "title": "Chart", "url": "files/x/chart.png"}
NOTE = {"type": "text/plain", "title": "Note", "data": "n"}


def delta(**fields: Any):
    return chunk(choices=[{"delta": fields}])


def custom(**fields: Any):
    return delta(custom_content=fields)


@proves("7", "G-15")
async def test_the_answer_is_shown_while_it_arrives():
    workspace, model = echo([text("Twelve "), text("degrees."), finish()])
    events: list[Event] = []

    async with one_tool(workspace, written()) as tool:
        result = await use(tool, events.append, query="How warm?")

    assert result == ToolResult("Twelve degrees.")
    assert to_dicts(model.asked[0].messages) == [{"role": "user", "content": "How warm?"}]
    assert timeless(events) == [
        StageOpened("call-1", "Team · repeat How warm?"),
        StageDelta("call-1", "> #### Request:\n\r**Prompt:** How warm?\n\r"),
        StageDelta("call-1", "> #### Response:\n"),
        StageDelta("call-1", "Twelve "),
        StageDelta("call-1", "degrees."),
        StageClosed("call-1", 0.0),
    ]


@proves("10.1")
async def test_the_stage_tells_the_toolset_and_the_tool_or_the_application():
    titles = []
    for name in ("", {"en": "Team", "de": "Mannschaft"}):
        workspace, _ = echo()
        opener = deployment.prepare(manifest({**team(simple()), "name": name}))
        assert opener is not None
        events: list[Event] = []
        async with opener(Opening(workspace, CALLER.at(locale="de"), silent)) as contribution:
            await use(contribution.tools[0], events.append, query="Hi")
        titles += [event.title for event in events if isinstance(event, StageOpened)]

    assert titles == ["Calling echo application Hi", "Mannschaft · echo Hi"]


@proves("7")
async def test_attachments_state_and_usage_come_back():
    workspace, _ = echo(
        [
            custom(attachments=[CHART, NOTE]),
            custom(attachments=[CHART], state={"a": 1}),
            text("Done"),
            finish(prompt=99, completion=9),
            chunk(
                statistics={
                    "usage_per_model": [
                        {"model": "gpt", "prompt_tokens": 5, "completion_tokens": 2},
                        {"model": "", "prompt_tokens": 1, "completion_tokens": 1},
                    ]
                }
            ),
        ]
    )
    events: list[Event] = []

    async with one_tool(workspace, written()) as tool:
        result = await use(tool, events.append, query="Draw")

    chart = Attachment("image/png", "Chart", url="files/x/chart.png")
    note = Attachment("text/plain", "Note", data="n")
    assert result == ToolResult(
        "Done",
        attachments=(chart, note),
        propagated=(chart,),
        state={"a": 1},
        usage=(ModelUsage("gpt", 5, 2), ModelUsage("echo", 1, 1)),
    )
    assert [event for event in events if isinstance(event, StageAttachment)] == [
        StageAttachment("call-1", chart),
        StageAttachment("call-1", note),
    ]


async def test_the_filter_of_the_manifest_decides_which_attachments_survive():
    workspace, _ = echo([custom(attachments=[CHART, NOTE]), finish()])
    item = written(
        attachment={
            "supported_types": ["text/*"],
            "media_type_substitution": {"text/plain": "text/markdown"},
            "propagate_types_to_choice": ["text/markdown"],
        }
    )
    events: list[Event] = []

    async with one_tool(workspace, item) as tool:
        result = await use(tool, events.append)

    note = Attachment("text/markdown", "Note", data="n")
    assert result == ToolResult("See attached files: Note", attachments=(note,), propagated=(note,))
    assert StageAttachment("call-1", note) in events


@proves("m1.10")
async def test_what_a_generated_tool_brings_stays_in_its_stage():
    workspace, _ = echo([custom(attachments=[CHART]), text("Done"), finish()])
    events: list[Event] = []

    async with one_tool(workspace, simple()) as tool:
        result = await use(tool, events.append, query="Draw")

    chart = Attachment("image/png", "Chart", url="files/x/chart.png")
    assert result == ToolResult("Done", attachments=(chart,))
    assert StageAttachment("call-1", chart) in events


@proves("G-17")
async def test_pictures_stand_in_the_answer_and_the_model_is_told_so():
    far = {"type": "image/png", "title": "Far", "url": "https://example.com/far.png"}
    raw = {"type": "image/jpeg", "title": "Raw", "data": "/9j/"}
    workspace, _ = echo([custom(attachments=[CHART, far, raw, NOTE]), finish()])
    item = written(attachment={"propagate_types_to_text": ["image/png", "image/jpeg"]})
    events: list[Event] = []

    async with one_tool(workspace, item) as tool:
        result = await use(tool, events.append, query="Draw")

    chart = Attachment("image/png", "Chart", url="files/x/chart.png")
    beside = (Attachment("image/png", "Far", url=far["url"]), Attachment(**raw))
    note = Attachment("text/plain", "Note", data="n")
    assert result == ToolResult(
        SEE_PICTURES, attachments=(chart, *beside, note), propagated=beside, pictures=(chart,)
    )
    shown = [event.attachment for event in events if isinstance(event, StageAttachment)]
    assert shown == [chart, *beside, note]


@proves("G-16")
async def test_the_prompt_is_the_question_and_all_else_configuration_g_16():
    workspace, model = echo([custom(attachments=[CHART]), text("Drawn"), finish()])
    item = written(
        query_parameter="prompt",
        takes_files=False,
        sends_configuration=True,
        properties={
            "prompt": {"type": "string", "description": "The picture."},
            "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
            "model": {"type": "string"},
        },
        required=["prompt"],
    )
    events: list[Event] = []

    async with one_tool(workspace, item) as tool:
        result = await use(tool, events.append, prompt="A boat", model="fine", other="x")

    assert list(tool.spec.parameters["properties"]) == ["prompt", "size", "model"]
    (request,) = model.asked
    assert to_dicts(request.messages) == [{"role": "user", "content": "A boat"}]
    configuration = {"size": "small", "model": "fine"}
    assert request.parameters == {"custom_fields": {"configuration": configuration}}
    chart = Attachment("image/png", "Chart", url="files/x/chart.png")
    assert result.attachments == (chart,)
    assert StageAttachment("call-1", chart) in events
    assert stage_text(events).endswith("> #### Response:\nDrawn")


async def test_an_answer_of_nothing_is_said_to_be_one():
    workspace, _ = echo([finish()])

    async with one_tool(workspace, written()) as tool:
        assert await use(tool) == ToolResult("The answer is empty.")


@proves("7")
async def test_a_call_without_a_query_is_only_worth_a_warning(caplog):
    workspace, _ = echo()

    async with one_tool(workspace, written()) as tool:
        assert await use(tool) == ToolResult("Well.")
    assert "Tool repeat was called without a query" in caplog.text


@proves("7")
@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        (
            {"type": "custom", "content": "Be {tone}, {really}.", "variables": {"tone": "brief"}},
            "Be brief, {really}.",
        ),
        (
            {"type": "dial", "path": "prompts/x/y", "variables": {"tone": "brief"}},
            "The prompt of prompts/x/y, brief.",
        ),
    ],
)
async def test_the_prompt_of_the_tool_goes_in_front(prompt, told):
    workspace, model = echo()

    async with one_tool(workspace, written(system_prompt=prompt)) as tool:
        await use(tool, query="Hi")

    assert [(m.role, m.content) for m in model.asked[0].messages] == [
        ("system", told),
        ("user", "Hi"),
    ]


@proves("7.3")
async def test_the_stages_of_the_deployment_stand_below_the_one_of_the_tool():
    workspace, _ = echo(
        [
            custom(stages=[{"index": 0, "name": "Search"}]),
            custom(stages=[{"index": 1, "content": "p", "parent_stage_index": 0}]),
            text("Found"),
            custom(stages=[{"index": 0, "status": "completed"}]),
            finish(),
        ]
    )
    events: list[Event] = []

    async with one_tool(workspace, written()) as tool:
        await use(tool, events.append, query="Hi")

    assert timeless(events)[3:] == [
        StageOpened("call-1-0", "Search", "call-1"),
        StageOpened("call-1-1", "Stage 2", "call-1-0"),
        StageDelta("call-1-1", "p"),
        StageDelta("call-1", "Found"),
        StageClosed("call-1-0", 0.0),
        StageClosed("call-1-1", 0.0),
        StageClosed("call-1", 0.0),
    ]


@proves("7.3")
@pytest.mark.parametrize(
    "display", [{"propagate_sub_stages": False}, {"level": "none"}, {"level": "error"}]
)
async def test_the_stages_of_the_deployment_can_be_hidden(display):
    workspace, _ = echo([custom(stages=[{"index": 0, "name": "Search"}]), *saying("Found")])
    events: list[Event] = []

    async with one_tool(workspace, written(), features={"stage_display": display}) as tool:
        result = await use(tool, events.append, query="Hi")

    assert result.content == "Found"
    assert [e for e in events if isinstance(e, StageOpened) and e.parent_id] == []


@proves("7")
@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (
            ModelFailed("The service answered with status 429.", status=429, display="Slow down."),
            "repeat: Slow down.",
        ),
        (
            ModelFailed("The service answered with status 500.", status=500),
            "repeat: The service answered with status 500.",
        ),
        (
            ModelFailed("silent", reason="timeout"),
            "The tool call `repeat` timed out after 300 seconds. "
            "Consider retrying with a smaller input or a simpler request.",
        ),
    ],
)
async def test_a_deployment_that_fails_is_told_to_the_model(failure, told):
    workspace, _ = echo([custom(stages=[{"index": 0, "name": "Search"}]), failure])
    events: list[Event] = []

    async with one_tool(workspace, written()) as tool:
        result = await use(tool, events.append, query="Hi")

    advice = "" if failure.reason == "timeout" else f"\n\n{ANOTHER_WAY}"
    assert result == ToolResult(f"{told}{advice}")
    assert StageClosed("call-1-0", 0.0, failed=True) in timeless(events)
    assert told in stage_text(events)


@proves("10.2")
@pytest.mark.parametrize(
    ("script", "is_failed"),
    [
        ([text("Half of "), ModelFailed("The stream broke.", reason="stream")], True),
        ([text("Half of "), ModelFailed("silent", reason="timeout")], True),
        ([ModelFailed("The service answered with status 500.", status=500)], False),
        (saying("All of it."), False),
    ],
)
@pytest.mark.parametrize("display", [{}, {"stage": {"name": "Ask", "defer_close": True}}])
async def test_the_stage_of_an_answer_that_broke_off_reads_failed(script, is_failed, display):
    workspace, _ = echo(script)
    events: list[Event] = []

    async with one_tool(workspace, written(display=display)) as tool:
        await use(tool, events.append, query="Hi")

    assert [e.failed for e in events if isinstance(e, StageClosed)] == [is_failed]


@proves("7")
async def test_the_strategies_of_the_manifest_decide_over_failures():
    workspace, _ = echo([ModelFailed("no")])
    item = written(fallback_configuration={"strategies": [{"type": "hard_stop"}]})

    async with one_tool(workspace, item) as tool:
        with pytest.raises(Stopped):
            await use(tool, query="Hi")


DOWN = ModelFailed("The service answered with status 503.", status=503, is_transient=True)
TARGET = Target("repeat", "echo", 9)
AGAIN = {"type": "continue", "retry": {"attempts": 2, "initial_delay": 0, "any_method": True}}
NAMED = {**AGAIN, "trigger_on": {"type": "contains", "value": "repeat"}}


@proves("7")
@each_row(
    ("script", "strategy", "told", "calls"),
    [
        ([DOWN], AGAIN, "Well.", 2),
        ([custom(state={"a": 1}), DOWN], AGAIN, "Well.", 2),
        ([text("Half"), DOWN], NAMED, "repeat: The service answered with status 503.", 1),
        (
            [custom(stages=[{"index": 0, "name": "Search"}]), DOWN],
            NAMED,
            "repeat: The service answered with status 503.",
            1,
        ),
        ([ModelFailed("Forbidden.", status=403)], AGAIN, "repeat: Forbidden.", 1),
        ([ModelFailed("Forbidden.", status=403)], NAMED, "Well.", 2),
        ([ModelFailed("silent", reason="timeout")], AGAIN, "timed out after 9 seconds", 1),
        (
            [DOWN],
            {**AGAIN, "retry": {"attempts": 2, "initial_delay": 0}},
            "repeat: The service answered with status 503.",
            1,
        ),
    ],
)
async def test_a_deployment_is_asked_again_only_before_its_answer_was_shown(
    script, strategy, told, calls
):
    workspace, model = echo(script, saying("Well."))
    item = written(fallback_configuration={"strategies": [strategy]})

    async with one_tool(workspace, item, tool_defaults={"timeout_seconds": 9}) as tool:
        result = await use(tool, query="Hi")

    assert told in result.content
    assert len(model.asked) == calls


@proves("7")
def test_a_failure_tells_whether_and_when_another_attempt_may_do_better():
    wait = ModelFailed("Full.", status=429, is_transient=True, retry_after=7.0)
    found = [
        tool_error(TARGET.name, TARGET.seconds, error, has_answered=False)
        for error in (wait, DOWN, ModelFailed("No.", status=403))
    ]

    assert [(str(one), one.is_lasting, one.retry_after) for one in found] == [
        ("repeat: Full.", False, 7.0),
        ("repeat: The service answered with status 503.", False, None),
        ("repeat: No.", True, None),
    ]


async def test_a_cancelled_call_leaves_the_deployment():
    workspace, model = echo([text("Well"), ScriptedModel.never])

    async with one_tool(workspace, written()) as tool:
        call = asyncio.create_task(use(tool, query="Hi"))
        await asyncio.wait_for(model.waiting.wait(), 60)
        call.cancel()
        await asyncio.wait([call], timeout=60)

    assert call.cancelled()
    assert model.closed.is_set()


@proves("7.2", "13.3")
async def test_the_manifest_says_which_headers_go_along_and_how_long_silence_may_last():
    workspace, _ = echo(saying("1"), saying("2"))
    narrow = written(content_propagation={"propagate_headers": ["X-Tenant-Id"]})

    async with one_tool(workspace, narrow, tool_defaults={"timeout_seconds": 900}) as tool:
        await use(tool, query="Hi")
    async with one_tool(workspace, simple()) as tool:
        await use(tool, query="Hi")

    assert workspace.wishes == [(("X-Tenant-Id",), 900), (None, 300)]


@proves("4")
async def test_a_static_tool_that_the_deployment_asks_us_for_is_said_to_run_at_its_service():
    static = {"type": "static_function", "static_function": {"name": "web_search"}}
    workspace, _ = echo(calling(("1", "web_search", {"q": "x"})))

    async with one_tool(workspace, written(parameters={"tools": [static]})) as tool:
        result = await use(tool, query="Hi")

    assert result == ToolResult(
        "repeat: the model called its tool 'web_search', which runs at the model's own service "
        f"and cannot be called from here.\n\n{ANOTHER_WAY}"
    )


@proves("7", "G-18")
async def test_static_tools_are_passed_on_as_they_are_and_arguments_become_fields():
    static = {
        "type": "static_function",
        "static_function": {"name": "web_search", "configuration": {"region": "eu"}, "x": 1},
    }
    schema = {"properties": {"tone": {"type": "string"}, "depth": {"type": "integer"}}}
    workspace, model = echo(
        info=replace(
            ECHO, configuration_schema=schema, defaults={"seed": 1, "stream_options": None}
        )
    )
    item = written(
        parameters={
            "temperature": 0.5,
            "seed": 2,
            "tools": [static],
            "custom_fields": {"configuration": {"tone": "dry", "lang": "en"}},
        },
        properties={
            "temperature": {"type": "number"},
            "tone": {"type": "string"},
            "size": {"type": "string"},
            "extra": {"type": "object", "properties": {}, "description": "d"},
            "kind": {"type": None, "const": "short"},
        },
    )

    async with one_tool(workspace, item) as tool:
        await use(tool, query="Hi", tone="warm", temperature=1, extra={}, size=None, user="made up")

    (request,) = model.asked
    assert request.static_tools == (static,)
    assert request.parameters == {
        "seed": 2,
        "stream_options": None,
        "temperature": 1,
        "kind": "short",
        "custom_fields": {"configuration": {"tone": "warm", "lang": "en"}},
    }


@proves("7")
async def test_the_configuration_of_a_simple_tool_is_filled_in_by_the_model():
    schema = {"properties": {"tone": {"enum": ["dry", "warm"]}}}
    workspace, model = echo(info=replace(ECHO, configuration_schema=schema))

    async with one_tool(workspace, simple()) as tool:
        await use(tool, query="Hi", tone="warm", user="made up")

    (request,) = model.asked
    assert request.parameters == {"custom_fields": {"configuration": {"tone": "warm"}}}
    assert request.messages == [ModelMessage("user", "Hi")]


async def test_what_the_deployment_thinks_is_a_step_and_a_refusal_is_its_answer():
    workspace, _ = echo([delta(reasoning="Hm."), delta(refusal="I may not."), finish()])
    events: list[Event] = []

    async with one_tool(workspace, written()) as tool:
        result = await use(tool, events.append, query="How warm?")

    assert result == ToolResult("I may not.")
    assert timeless(events)[3:] == [
        StageOpened("call-1-thinking-1", "Thinking", "call-1"),
        StageDelta("call-1-thinking-1", "Hm."),
        StageClosed("call-1-thinking-1", 0.0),
        StageDelta("call-1", "I may not."),
        StageClosed("call-1", 0.0),
    ]
