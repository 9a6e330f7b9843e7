import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from apps.agent.events import (
    Event,
    ModelUsage,
    RunFinished,
    StageClosed,
    StageDelta,
    StageOpened,
    StateSaved,
    TextDelta,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.meter import ToolCallReport
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, PendingResult, Tool, ToolResult
from apps.capabilities.discovery.capability import discovery
from apps.capabilities.hooks.capability import hooks
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Capability, Contribution, PreparedTool
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, wrap_tool
from apps.capabilities.wrappers.display import display_of
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ModelFailed, ToolError
from apps.insights.meter import CallEntry, RunMeter
from apps.manifest.toolsets.parameters import FunctionParameters
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.capabilities import runs
from tests.capabilities.manifests import opening_for
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.runs import CALLER, led_by, state_of
from tests.contract import proves
from tests.fakes import (
    FakeWorkspace,
    ScriptedModel,
    async_tool,
    calling,
    capability,
    finish,
    saying,
    spec,
    text,
    tool,
)
from tests.manifest.documents import manifest, rest_tools

QUESTION = ModelMessage("user", "What is new?")


def started(**fields: Any) -> dict[str, Any]:
    return {"event": "on_request_start", "tool_name": "recall", **fields}


def completed(**fields: Any) -> dict[str, Any]:
    return {"event": "on_completion", "tool_name": "note", **fields}


class Memory:
    """A tool that records its arguments, and answers with the result of `says`."""

    def __init__(self, name: str = "recall", *says: object) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.says = list(says)
        self.tool = async_tool(name, self.call)

    async def call(self, invocation: Invocation) -> ToolResult:
        self.asked.append(dict(invocation.arguments))
        answer = self.says.pop(0) if self.says else "nothing"
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, ToolResult) else ToolResult(str(answer))


def application(
    *wanted: Mapping[str, Any],
    tools: tuple[Tool, ...] = (),
    hidden: tuple[Tool, ...] = (),
    besides: tuple[Capability, ...] = (),
    level: str = "info",
    **members: Any,
) -> ResolvedApplication:
    features = {"timestamp": None, "stage_display": {"level": level}}
    document = manifest(
        **{"orchestrator": led_by(), "features": features, "hooks": list(wanted), **members}
    )
    with_tools = capability(Contribution(tools=tools, hidden=hidden))
    return runs.application(read_manifest(document, preview=True), with_tools, hooks, *besides)


async def events_of(
    app: ResolvedApplication, model: ScriptedModel, *messages: ModelMessage, **wishes: Any
) -> list[Event]:
    return await runs.events_of(app, {"gpt": model}, *(messages or (QUESTION,)), **wishes)


def plain(model: ScriptedModel, number: int = -1) -> list[tuple[str, str]]:
    """Return the model's messages: the role, and the text or the arguments of the call."""
    return [
        (message.role, message.tool_calls[0].arguments if message.tool_calls else message.text)
        for message in model.asked[number].messages
    ]


@proves("16.2", "D-02")
async def test_the_model_finds_what_the_hook_asked_for_as_if_it_had_asked_itself():
    memory = Memory("recall", "You like snow.")
    hook = started(arguments={"about": "${last_user_message.content}"})
    model = ScriptedModel(saying("Snow"))

    events = await events_of(application(hook, tools=(memory.tool,)), model)

    (question, call, result) = model.asked[0].messages
    assert memory.asked == [{"about": "What is new?"}]
    assert (question, call.content, result.content) == (QUESTION, "", "You like snow.")
    (asked,) = call.tool_calls
    assert (asked.name, asked.arguments) == ("recall", '{"about":"What is new?"}')
    assert asked.id == result.tool_call_id
    assert asked.id.startswith("synth_recall_")
    assert [event for event in events if not isinstance(event, StateSaved)] == [
        TextDelta("Snow"),
        RunFinished(),
    ]


async def test_the_call_of_a_hook_is_reported_to_the_meter():
    entries: list[CallEntry] = []
    meter = RunMeter(entries.append, "gateway", "user-1")
    fine, broken = Memory("recall"), Memory("note", ToolError("No"))
    app = application(started(), started(tool_name="note"), tools=(fine.tool, broken.tool))
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": ScriptedModel(saying("Snow"))}

    await run_application(
        app,
        RunRequest((QUESTION,)),
        workspace,
        CALLER,
        lambda event: None,
        progress=Progress(meter=meter),
    )

    uses = [one.report for one in entries if isinstance(one.report, ToolCallReport)]
    assert [(use.tool, use.iteration, use.has_failed) for use in uses] == [
        ("recall", 0, False), ("note", 0, True)
    ]  # fmt: skip


@proves("16.2")
async def test_hooks_run_in_the_order_of_the_manifest_and_see_each_other():
    first, second = Memory("first", "one"), Memory("second", "two")
    wanted = (
        started(tool_name="first", frequency="always"),
        started(
            tool_name="second", arguments={"n": {"$eval": "len(messages)"}}, frequency="always"
        ),
    )
    model = ScriptedModel(saying("ok"))

    await events_of(application(*wanted, tools=(first.tool, second.tool)), model)

    assert second.asked == [{"n": 3}]
    assert plain(model) == [
        ("user", "What is new?"),
        ("assistant", "{}"),
        ("tool", "one"),
        ("assistant", '{"n":3}'),
        ("tool", "two"),
    ]


async def conversation(
    app: ResolvedApplication, model: ScriptedModel, *questions: str
) -> list[Event]:
    """Ask one question after another. Each request contains the results of the previous ones."""
    messages: list[ModelMessage] = []
    events: list[Event] = []
    for question in questions:
        messages.append(ModelMessage("user", question))
        events = await events_of(app, model, *messages)
        said = "".join(event.text for event in events if isinstance(event, TextDelta))
        messages.append(ModelMessage("assistant", said, state=state_of(events)))
    return events


@proves("16.2")
async def test_what_has_not_changed_is_not_said_again_and_what_has_changed_is():
    memory = Memory("recall", "snow", "snow", "rain")
    hook = started(arguments={"about": "${last_user_message.content}"})
    model = ScriptedModel(saying("a"), saying("b"), saying("c"))

    await conversation(application(hook, tools=(memory.tool,)), model, "1?", "2?", "3?")

    assert memory.asked == [{"about": "1?"}, {"about": "2?"}, {"about": "3?"}]
    assert plain(model, 1) == [
        ("user", "1?"),
        ("assistant", '{"about":"1?"}'),
        ("tool", "snow"),
        ("assistant", "a"),
        ("user", "2?"),
    ]
    assert plain(model, 2) == [
        *plain(model, 1),
        ("assistant", "b"),
        ("user", "3?"),
        ("assistant", '{"about":"3?"}'),
        ("tool", "rain"),
    ]


@proves("16.2")
async def test_what_is_always_said_is_said_at_the_end_each_time():
    memory = Memory("recall", "snow", "snow")
    model = ScriptedModel(saying("a"), saying("b"))
    app = application(started(frequency="always"), tools=(memory.tool,))

    await conversation(app, model, "1?", "2?")

    assert plain(model, 1) == [
        ("user", "1?"),
        ("assistant", "{}"),
        ("tool", "snow"),
        ("assistant", "a"),
        ("user", "2?"),
        ("assistant", "{}"),
        ("tool", "snow"),
    ]


@proves("16.2")
@pytest.mark.parametrize("frequency", ["append_if_changed", "always"])
async def test_what_is_fresh_is_not_asked_for_again(frequency):
    memory = Memory("recall", "snow", "rain")
    hook = started(frequency=frequency, refresh_condition={"kind": "ttl", "ttl_minutes": 10})
    app = application(hook, tools=(memory.tool,))
    model = ScriptedModel(*(saying("ok") for _ in range(3)))
    messages: list[ModelMessage] = []
    asked = []

    for minute in (0, 9, 11):
        with time_machine.travel(datetime(2026, 3, 1, 12, minute, tzinfo=UTC), tick=False):
            messages.append(ModelMessage("user", f"{minute}?"))
            state = state_of(await events_of(app, model, *messages))
            messages.append(ModelMessage("assistant", "ok", state=state))
            asked.append(len(memory.asked))

    assert asked == [1, 1, 2]
    assert plain(model)[-2:] == [("assistant", "{}"), ("tool", "rain")]


@pytest.mark.parametrize(
    "calls", [7, {"synth": 1}, {}, "x", {"synth_recall_44136fa_": "2999-01-01T00:00:00+00:00"}]
)
async def test_a_state_that_was_written_by_somebody_makes_nothing_fresh(calls):
    memory = Memory("recall", "snow")
    hook = started(frequency="always", refresh_condition={"kind": "ttl", "ttl_minutes": 10})
    answered = ModelMessage("assistant", "ok", state={"hook_calls": calls})

    await events_of(
        application(hook, tools=(memory.tool,)),
        ScriptedModel(saying("ok")),
        QUESTION,
        answered,
        QUESTION,
    )

    assert len(memory.asked) == 1


FAILURES: list[Any] = [
    ToolError("secret"),
    ModelFailed("secret"),
    RuntimeError("secret"),
    asyncio.CancelledError(),
    ToolResult("Error: secret", failure=ToolError("secret")),
]


@proves("16.2")
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
async def test_a_hook_that_fails_is_skipped_and_told_in_the_log_alone(failure, caplog):
    recall, note = Memory("recall", failure), Memory("note", failure)
    app = application(started(name="memory"), completed(), tools=(recall.tool, note.tool))
    model = ScriptedModel(saying("Fine"))

    with caplog.at_level(logging.WARNING):
        events = await events_of(app, model)

    assert plain(model) == [("user", "What is new?")]
    assert [type(event) for event in events] == [TextDelta, StateSaved, RunFinished]
    lines = [r.getMessage() for r in caplog.records if r.name == "apps.capabilities.hooks.calls"]
    assert [line.partition(" was skipped: ")[0] for line in lines] == [
        "Hook hooks[0] (memory) on_request_start",
        "Hook hooks[1] on_completion",
    ]
    assert "secret" not in "".join(lines)


@proves("16.2")
async def test_a_template_that_cannot_be_filled_in_skips_the_hook(caplog):
    memory = Memory()
    hook = started(arguments={"q": "${last_assistant_message.content}"})
    model = ScriptedModel(saying("Fine"))

    with caplog.at_level(logging.WARNING):
        await events_of(application(hook, tools=(memory.tool,)), model)

    assert (memory.asked, plain(model)) == ([], [("user", "What is new?")])
    assert [record.getMessage() for record in caplog.records] == [
        "Hook hooks[0] on_request_start was skipped: the template cannot be evaluated "
        "(InterpreterError)"
    ]


@proves("16.2")
async def test_a_hook_that_takes_too_long_is_given_up(caplog):
    gone = asyncio.Event()

    async def hang(invocation: Invocation) -> ToolResult:
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        raise AssertionError

    slow = async_tool("recall", hang)
    model = ScriptedModel(saying("Fine"))

    with caplog.at_level(logging.WARNING):
        await events_of(application(started(timeout_seconds=0.05), tools=(slow,)), model)

    assert gone.is_set()
    assert plain(model) == [("user", "What is new?")]
    assert "was skipped: it took longer than 0.05 seconds" in caplog.text


@proves("16.2")
@pytest.mark.parametrize("hook", [started(), completed(tool_name="recall")])
async def test_who_cancels_the_run_cancels_the_hook(hook):
    waiting, gone = asyncio.Event(), asyncio.Event()

    async def hang(invocation: Invocation) -> ToolResult:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        raise AssertionError

    app = application(hook, tools=(async_tool("recall", hang),))
    task = asyncio.create_task(events_of(app, ScriptedModel(saying("Fine"))))
    await asyncio.wait_for(waiting.wait(), 60)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone.is_set()


@proves("16.2")
async def test_a_template_that_can_never_be_filled_in_is_an_issue_and_the_other_hooks_run():
    memory = Memory("recall", "You like snow.")
    wanted = (
        started(arguments={"q": "${last_user_message[0]}"}),
        started(arguments={"q": "${last_user_message.content}"}),
    )

    events = await events_of(
        application(*wanted, tools=(memory.tool,)), ScriptedModel(saying("Fine"))
    )

    told = "".join(event.text for event in events if isinstance(event, StageDelta))
    assert told == (
        "#### Hooks\n\n- hooks[0]: arguments: q: this is not a list, so it has no numbered "
        "items; use 'role', 'content', 'tool_calls', 'tool_call_id', so the hook does not "
        "run.\n"
    )
    assert memory.asked == [{"q": "What is new?"}]


@proves("16.2")
async def test_an_unknown_tool_is_an_issue():
    model = ScriptedModel(saying("Fine"))
    wanted = (started(tool_name="missing"), completed(toolset_name="shop", name="log"))

    events = await events_of(application(*wanted), model)

    told = "".join(event.text for event in events if isinstance(event, StageDelta))
    assert told == (
        "#### Hooks\n\n"
        "- hooks[0]: tool 'missing' not found in initialized tools, so the hook does not run.\n"
        "- hooks[1] (log): tool 'note' of toolset 'shop' not found in initialized tools, so the "
        "hook does not run.\n"
    )
    assert events[-1] == RunFinished()


@proves("16.2")
async def test_after_the_answer_a_hook_sees_it_and_says_nothing():
    note = Memory("note", "noted")
    weather = tool("weather", lambda arguments: "12")
    hook = completed(
        arguments={
            "said": "${last_assistant_message.content}",
            "asked": "${last_user_message.content}",
            "counts": [{"$eval": "iteration_count"}, {"$eval": "total_tool_calls"}],
        }
    )
    app = application(hook, tools=(note.tool, weather))
    model = ScriptedModel(calling(("1", "weather", {}), ("2", "weather", {})), saying("12 degrees"))

    events = await events_of(app, model)

    assert note.asked == [{"said": "12 degrees", "asked": "What is new?", "counts": [2, 2]}]
    assert [type(event) for event in events] == [TextDelta, StateSaved, RunFinished]
    assert "noted" not in str(state_of(events))


@proves("16.2")
async def test_the_answer_and_its_state_are_there_before_the_hooks_that_follow_it():
    events: list[Event] = []
    seen: list[list[type]] = []

    async def look(invocation: Invocation) -> ToolResult:
        seen.append([type(event) for event in events])
        return ToolResult("")

    app = application(completed(), completed(), tools=(async_tool("note", look),))

    await events_of(app, ScriptedModel(saying("Fine")), events=events)

    assert seen == [[TextDelta, StateSaved]] * 2


async def test_hooks_hold_the_end_of_a_request_no_longer_than_their_time_together(
    monkeypatch, caplog
):
    asked: list[str] = []

    async def dawdle(invocation: Invocation) -> ToolResult:
        asked.append("dawdle")
        await asyncio.Event().wait()
        raise AssertionError

    note = Memory("note", "noted")
    short, long = (completed(tool_name="dawdle", timeout_seconds=s) for s in (0.01, 1.0))
    app = application(
        short,
        long,
        completed(timeout_seconds=1.0),
        tools=(async_tool("dawdle", dawdle), note.tool),
    )
    monkeypatch.setattr("apps.capabilities.hooks.capability.MOST_SECONDS_AT_THE_END", 1.0)

    events = await events_of(app, ScriptedModel(saying("Fine")))

    assert (asked, note.asked) == (["dawdle", "dawdle"], [])
    assert events[-1] == RunFinished()
    assert (
        "Hooks after an answer exceeded their limit of 1 s; skipped the remaining hooks"
        in caplog.text
    )


@proves("16.2")
async def test_a_turn_that_ends_with_calls_of_the_client_or_a_failure_is_no_completion():
    note = Memory("note")
    app = application(completed(), tools=(note.tool,))
    external = {"pick": spec("pick")}

    events = await events_of(app, ScriptedModel(calling(("1", "pick", {}))), external=external)
    with pytest.raises(ModelFailed):
        await events_of(app, ScriptedModel([text("We"), ModelFailed("gone")]))

    assert any(isinstance(event, ToolCallsRequested) for event in events)
    assert note.asked == []


async def test_what_a_hook_spends_is_part_of_the_costs():
    spent = (ModelUsage("helper", 5, 2),)
    recall = Memory("recall", ToolResult("a", usage=spent))
    note = Memory("note", ToolResult("b", usage=spent))
    app = application(started(), completed(), tools=(recall.tool, note.tool))

    events = await events_of(app, ScriptedModel([text("Hi"), finish("stop", 10, 1)]))

    models = (ModelUsage("helper", 10, 4), ModelUsage("gpt", 10, 1))
    assert events[-1] == RunFinished("stop", Usage(20, 5, models))


def staged(level: str, *, fails: bool) -> Tool:
    """Return a tool with a stage, like all tools of manifests."""
    parameters = FunctionParameters(type="object", properties={})
    checked = read_manifest(manifest(features={"stage_display": {"level": level}}))

    async def work(opening: object, invocation: Invocation) -> ToolResult:
        if fails:
            raise ToolError("It is closed.")
        return ToolResult("snow")

    arguments = read_arguments(parameters)
    prepared = PreparedTool(spec("recall"), work)
    return wrap_tool(prepared, ToolOptions(arguments, display_of(checked, "Recalling"), 5)).bind(
        opening_for()
    )


@proves("16.2")
@pytest.mark.parametrize(
    ("level", "fails", "titles"),
    [
        ("none", True, []),
        ("error", False, []),
        ("error", True, ["Recalling"]),
        ("info", False, []),
        ("info", True, ["Recalling"]),
        ("debug", False, ["Recalling"]),
        ("debug", True, ["Recalling"]),
    ],
)
async def test_hooks_are_shown_to_those_who_look_for_mistakes(level, fails, titles):
    app = application(started(), tools=(staged(level, fails=fails),), level=level)

    events = await events_of(app, ScriptedModel(saying("Fine")))

    assert [event.title for event in events if isinstance(event, StageOpened)] == titles
    assert len([event for event in events if isinstance(event, StageClosed)]) == len(titles)


async def test_tools_that_the_model_may_not_call_are_for_hooks(http_url):
    toolset = over_http(http_url, hidden_from_model=["add"], allowed_tools=["add", "move"])
    wanted = (
        started(
            toolset_name="desk",
            tool_name="add",
            arguments={"a": {"$eval": "len(messages)"}, "b": 40},
        ),
        completed(toolset_name="desk", tool_name="add", arguments={"a": "no number"}),
    )
    app = application(*wanted, besides=(mcp,), tool_sets=[toolset])
    model = ScriptedModel(saying("41"))

    async with nothing_left_over():
        await events_of(app, model)

    assert [tool.name for tool in model.asked[0].tools] == ["desk_move"]
    assert plain(model) == [
        ("user", "What is new?"),
        ("assistant", '{"a":1,"b":40}'),
        ("tool", "41"),
    ]
    (call,) = model.asked[0].messages[1].tool_calls
    assert call == ToolCall(call.id, "desk_add", '{"a":1,"b":40}')


async def test_tools_that_are_withheld_from_the_model_are_called_as_they_are():
    memory = Memory("shop_recall", "snow")
    withheld = Tool(memory.tool.spec, memory.tool.call, "tool_sets[0]")
    orchestrator = {
        "deployment": {"deployment_id": "gpt"},
        "tool_discovery": {"enabled": True, "min_tools_for_deferral": 1},
    }
    app = application(
        started(toolset_name="Shop"),
        tools=(withheld,),
        besides=(discovery,),
        orchestrator=orchestrator,
        tool_sets=[rest_tools(name="Shop", description="Orders.")],
    )
    model = ScriptedModel(saying("Fine"))

    await events_of(app, model)

    assert [tool.name for tool in model.asked[0].tools] == ["internal_tool_search"]
    assert ("tool", "snow") in plain(model)


async def test_a_toolset_is_found_by_the_name_that_the_manifest_gives_it():
    """Core has another name for it, which is the prefix of its tools."""
    memory, other = Memory("Long_Memory_recall", "snow"), Memory("Long_Memory_do_recall")
    tools = tuple(Tool(m.tool.spec, m.tool.call, "tool_sets[0]") for m in (other, memory))
    toolset = {"type": "dial-mcp", "name": "memory", "deployment_id": "toolsets/public/memory"}
    app = application(started(toolset_name="memory"), tools=tools, tool_sets=[toolset])

    await events_of(app, ScriptedModel(saying("Fine")))

    assert (len(memory.asked), len(other.asked)) == (1, 0)


async def test_a_tool_whose_name_got_a_hash_is_found_by_the_name_that_its_server_gives_it():
    dotted, plain_one = Memory("desk_do_it_0123abcd", "snow"), Memory("desk_do_it")
    tools = (
        replace(dotted.tool, toolset="tool_sets[0]", full_name="desk_do.it"),
        replace(plain_one.tool, toolset="tool_sets[0]"),
    )
    toolset = over_http("https://mcp.example.org/mcp")
    app = application(
        started(toolset_name="desk", tool_name="do.it"), tools=tools, tool_sets=[toolset]
    )

    await events_of(app, ScriptedModel(saying("Fine")))

    assert (len(dotted.asked), len(plain_one.asked)) == (1, 0)


def test_an_application_without_hooks_opens_nothing():
    assert hooks.prepare(read_manifest(manifest(hooks=[]), preview=True)) is None
    assert hooks.prepare(read_manifest(manifest(hooks=[started()]), preview=False)) is None


async def test_a_hook_whose_tool_would_have_to_ask_somebody_is_skipped(caplog):
    memory = Memory("recall", PendingResult())
    model = ScriptedModel(saying("Snow"))

    await events_of(application(started(), tools=(memory.tool,)), model)

    assert [list(request.messages) for request in model.asked] == [[QUESTION]]
    assert "on_request_start was skipped: its tool failed (ToolError)" in caplog.text
