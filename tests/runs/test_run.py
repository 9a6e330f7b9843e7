from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import (
    Event,
    ModelUsage,
    RunFinished,
    Spent,
    StageClosed,
    StageDelta,
    StageOpened,
    StateSaved,
    TextDelta,
    Usage,
)
from apps.agent.messages import ModelMessage, Thoughts, ToolCall, to_dicts
from apps.agent.model import ThoughtPart
from apps.agent.stages import open_stage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Contribution, PreparedCapabilities
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import (
    BadRequest,
    DeploymentNotFound,
    InitializationIssue,
    ModelFailed,
    StepLimitReached,
    ToolError,
    ToolsKeepFailing,
)
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.port import DeploymentInfo
from tests.capabilities.manifests import stage_text
from tests.catalog.rows import manifest_with
from tests.contract import proves
from tests.fakes import (
    FakeWorkspace,
    ScriptedModel,
    async_tool,
    calling,
    saying,
    spec,
    text,
    thinks,
    tool,
)
from tests.fakes import timeless as without_durations

CALLER = Caller("user-1", "user", user_id=1)
QUESTION = ModelMessage("user", "How warm is it in Riga?")
WEATHER = tool("weather", lambda arguments: f"{arguments['city']}: 12")
CALL = calling(("1", "weather", '{"city": "Riga"}'))
KEPT = to_dicts(
    [
        ModelMessage("assistant", " ", tool_calls=(ToolCall("1", "weather", '{"city": "Riga"}'),)),
        ModelMessage("tool", "Riga: 12", tool_call_id="1"),
    ]
)


def opener(contribution: Contribution):
    @asynccontextmanager
    async def opened(opening):
        yield contribution

    return opened


def application(*openers, issues=(), prompt="", **orchestrator) -> ResolvedApplication:
    """Return an application of the model `gpt` with these capabilities."""
    manifest = read_manifest(
        manifest_with(
            orchestrator={
                "deployment": {"deployment_id": "gpt"},
                "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
                **orchestrator,
            }
        )
    )
    named = tuple((f"part-{index}", opener) for index, opener in enumerate(openers))
    return ResolvedApplication(
        1, "app", "App", "", True, 1, manifest, PreparedCapabilities(named, tuple(issues))
    )


def with_tools(*tools) -> ResolvedApplication:
    return application(opener(Contribution(tools=tools)))


def workspace_of(model: ScriptedModel, **info) -> FakeWorkspace:
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    workspace.infos = {"gpt": DeploymentInfo("gpt", "GPT", **info)}
    return workspace


async def events_of(
    app: ResolvedApplication, model: ScriptedModel, *messages: ModelMessage, info=None, **wishes
) -> list[Event]:
    events: list[Event] = []
    request = RunRequest(messages or (QUESTION,), **wishes)
    await run_application(app, request, workspace_of(model, **(info or {})), CALLER, events.append)
    return without_durations(events)


async def events_before(
    error: type[Exception], app: ResolvedApplication, workspace: FakeWorkspace
) -> list[Event]:
    """Return the events of a run that fails with this error."""
    events: list[Event] = []
    with pytest.raises(error):
        await run_application(app, RunRequest((QUESTION,)), workspace, CALLER, events.append)
    return events


async def test_an_answer_ends_with_its_state_and_what_it_cost():
    model = ScriptedModel(CALL, saying("12 degrees", prompt=9, completion=3))

    assert await events_of(with_tools(WEATHER), model) == [
        TextDelta("12 degrees"),
        StateSaved({"tool_execution_history": KEPT}),
        RunFinished("stop", Usage(9, 3, (ModelUsage("gpt", 9, 3),))),
    ]


@proves("G-10", "G-62")
async def test_the_next_request_shows_the_model_the_calls_of_the_last_one():
    answered = ModelMessage("assistant", "12 degrees", state={"tool_execution_history": KEPT})
    model = ScriptedModel(saying("You are welcome"))

    events = await events_of(
        with_tools(WEATHER), model, QUESTION, answered, ModelMessage("user", "Thanks")
    )

    assert to_dicts(model.asked[0].messages) == [
        {"role": "user", "content": QUESTION.text},
        *KEPT,
        {"role": "assistant", "content": "12 degrees"},
        {"role": "user", "content": "Thanks"},
    ]
    assert events[-2] == StateSaved({"tool_execution_history": []})


async def test_the_model_reads_what_it_thought_before_its_calls_again_and_nothing_else_of_it():
    """In the same answer and in later ones, as DeepSeek requires."""
    first = [thinks("I need the weather."), *CALL]
    model = ScriptedModel(first, [thinks("Easy."), *saying("12 degrees")], saying("Bye"))
    app = with_tools(WEATHER)

    events = await events_of(app, model)
    state = next(event.state for event in events if isinstance(event, StateSaved))
    answered = ModelMessage("assistant", "12 degrees", state=state)
    await events_of(app, model, QUESTION, answered, ModelMessage("user", "Thanks"))

    thoughts = [[message.thoughts for message in asked.messages] for asked in model.asked]
    thought = Thoughts({"reasoning_content": "I need the weather."}, "gpt")
    none = None
    assert thoughts == [[none], [none, thought, none], [none, thought, none, none, none]]
    assert all(not message.state for asked in model.asked for message in asked.messages)


async def test_what_a_model_has_to_read_again_of_its_last_answer_comes_back_to_it():
    own = '[{"id": "r1"}]'
    model = ScriptedModel([*saying("12 degrees"), ThoughtPart("items", own)], saying("Bye"))

    *_, saved, _ = await events_of(application(), model)
    assert isinstance(saved, StateSaved)
    answered = ModelMessage("assistant", "12 degrees", state=saved.state)
    await events_of(application(), model, QUESTION, answered, ModelMessage("user", "Thanks"))

    assert model.asked[1].messages[1] == ModelMessage(
        "assistant", "12 degrees", thoughts=Thoughts({"items": own}, "gpt")
    )


@proves("T-54")
@pytest.mark.parametrize("features", [{"cache": True}, {"cache": False}, {}])
async def test_a_model_with_a_cache_is_asked_with_marks(features):
    model = ScriptedModel(saying("Hello"))

    await events_of(application(), model, info={"features": features})

    assert model.asked[0].marks_cache == features.get("cache", False)


async def test_the_models_own_stages_are_hidden_with_what_it_thinks():
    model = ScriptedModel([thinks("Hm."), *saying("12 degrees")])

    events = await events_of(application(propagate_stages=False), model)

    assert events[0] == TextDelta("12 degrees")


async def test_the_prompt_is_made_of_its_parts_in_the_order_of_the_capabilities():
    parts = [opener(Contribution(instructions=(part,))) for part in ("one", "two")]
    model = ScriptedModel(saying("Hello"))

    await events_of(application(*parts, prompt="Be brief."), model)

    assert list(model.asked[0].messages) == [
        ModelMessage("system", "Be brief.\n\none\n\ntwo"),
        QUESTION,
    ]


async def test_steps_of_capabilities_are_applied_in_their_order_and_views_are_not_kept():
    def appending(word: str):
        async def step(messages):
            return [*messages[:-1], replace(messages[-1], content=f"{messages[-1].text} {word}")]

        return step

    first = Contribution(history=(appending("a"),), view=(appending("c"),))
    second = Contribution(history=(appending("b"),), view=(appending("d"),))
    model = ScriptedModel(saying("Hello"))

    await events_of(application(opener(first), opener(second)), model)

    assert model.asked[0].messages[-1].text == f"{QUESTION.text} a b c d"


@proves("4")
async def test_parameters_of_the_deployment_yield_to_the_manifest_and_that_to_the_client():
    deployment = {"deployment_id": "gpt", "parameters": {"temperature": 0.5, "seed": 1}}
    model = ScriptedModel(CALL, saying("Hello"))
    app = application(opener(Contribution(tools=(WEATHER,))), deployment=deployment)

    await events_of(
        app,
        model,
        info={"defaults": {"temperature": 1, "top_p": 0.9}},
        tool_choice="required",
        response_format={"type": "json_object"},
    )

    everything = {
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 1,
        "response_format": {"type": "json_object"},
    }
    assert [request.parameters for request in model.asked] == [
        {**everything, "tool_choice": "required"},
        everything,
    ]


async def test_a_capability_that_cannot_be_opened_is_reported_and_the_run_goes_on():
    def refuses(opening):
        raise InitializationIssue("weather: no answer")

    def breaks(opening):
        raise RuntimeError("a secret of the server")

    app = application(refuses, breaks, opener(Contribution(tools=(WEATHER,))))

    events = await events_of(app, ScriptedModel(CALL, saying("12 degrees")))

    assert events[:4] == [
        StageOpened("initialization-issues", "Initialization issues"),
        StageDelta(
            "initialization-issues",
            "#### Tool initialization\n\n- weather: no answer\n"
            "- part-1: failed unexpectedly; see the server's log.\n",
        ),
        StageClosed("initialization-issues", 0.0, failed=True),
        TextDelta("12 degrees"),
    ]


async def test_what_a_capability_settles_when_all_are_open_stands_in_its_place():
    said: list[str] = []

    def settling(name: str):
        async def settle() -> Contribution:
            said.append(f"settle {name}")
            return Contribution(instructions=(name,))

        @asynccontextmanager
        async def opened(opening):
            said.append(f"open {name}")
            yield Contribution(settle=settle)

        return opened

    model = ScriptedModel(saying("Hello"))
    second = opener(Contribution(instructions=("second",)))

    await events_of(application(settling("first"), second, settling("third")), model)

    assert said == ["open first", "open third", "settle first", "settle third"]
    assert model.asked[0].messages[0].text.splitlines()[::2] == ["first", "second", "third"]


async def test_a_capability_that_cannot_settle_is_reported_and_the_run_goes_on():
    async def settle() -> Contribution:
        raise RuntimeError("a secret of the server")

    app = application(opener(Contribution(settle=settle)))

    events = await events_of(app, ScriptedModel(saying("Hello")))

    (report,) = [event.text for event in events if isinstance(event, StageDelta)]
    assert report.endswith("- part-0: failed unexpectedly; see the server's log.\n")
    assert TextDelta("Hello") in events


@proves("6.1", "R-23")
async def test_of_two_tools_of_a_name_the_first_is_used_and_the_other_reported():
    other = tool("weather", lambda arguments: "never asked")
    parts = [opener(Contribution(tools=(found,))) for found in (WEATHER, other)]
    model = ScriptedModel(CALL, saying("12 degrees"))

    events = await events_of(application(*parts), model)

    (report,) = [event.text for event in events if isinstance(event, StageDelta)]
    assert "Two tools are named 'weather'" in report
    assert model.asked[1].messages[-1].text == "Riga: 12"


@pytest.mark.parametrize("error", [RuntimeError("late"), TimeoutError()])
async def test_a_capability_that_cannot_be_closed_does_not_spoil_the_answer(error, caplog):
    @asynccontextmanager
    async def closes_badly(opening):
        yield Contribution()
        raise error

    events = await events_of(application(closes_badly), ScriptedModel(saying("Hello")))

    assert events == [
        TextDelta("Hello"),
        StateSaved({"tool_execution_history": []}),
        RunFinished("stop"),
    ]
    assert "Failed to close the capability part-0" in caplog.text


async def test_a_capability_that_cannot_be_closed_does_not_hide_why_the_run_failed():
    @asynccontextmanager
    async def closes_badly(opening):
        try:
            yield Contribution()
        finally:
            raise RuntimeError("late")

    with pytest.raises(ModelFailed):
        await events_of(application(closes_badly), ScriptedModel([ModelFailed("It broke off.")]))


async def test_a_capability_cannot_make_a_failed_run_look_finished():
    @asynccontextmanager
    async def swallows(opening):
        with suppress(ModelFailed):
            yield Contribution()

    with pytest.raises(ModelFailed):
        await events_of(application(swallows), ScriptedModel([ModelFailed("It broke off.")]))


async def test_capabilities_are_closed_in_the_reverse_of_their_order():
    said: list[str] = []

    def noting(name: str):
        @asynccontextmanager
        async def opened(opening):
            said.append(f"open {name}")
            yield Contribution()
            said.append(f"close {name}")

        return opened

    await events_of(application(noting("a"), noting("b")), ScriptedModel(saying("Hello")))

    assert said == ["open a", "open b", "close b", "close a"]


@proves("4")
async def test_a_model_that_fails_leaves_the_state_of_what_was_done():
    model = ScriptedModel(CALL, [text("It"), ModelFailed("It broke off.")])

    events = await events_before(ModelFailed, with_tools(WEATHER), workspace_of(model))

    assert events == [TextDelta("It"), StateSaved({"tool_execution_history": KEPT})]


@proves("4")
async def test_what_a_failed_run_cost_is_told_last():
    broken = ScriptedModel([text("Wait"), Usage(9, 3), ModelFailed("cut", reason="stream")])

    events = await events_before(ModelFailed, application(), workspace_of(broken))

    assert events == [
        TextDelta("Wait"),
        StateSaved({"tool_execution_history": []}),
        Spent(Usage(9, 3, (ModelUsage("gpt", 9, 3),))),
    ]


async def test_a_capability_mends_the_conversation_when_the_model_refuses_it():
    async def leave_out(failure, messages):
        return [
            replace(message, content="Not available.") if message.role == "tool" else message
            for message in messages
        ]

    app = application(opener(Contribution(tools=(WEATHER,), recoveries=(leave_out,))))
    model = ScriptedModel(CALL, [ModelFailed("unsupported", status=400)], saying("Sorry."))

    events = await events_of(app, model)

    mended = [KEPT[0], {**KEPT[1], "content": "Not available."}]
    assert events == [
        TextDelta("Sorry."),
        StateSaved({"tool_execution_history": mended}),
        RunFinished(),
    ]
    assert model.asked[2].messages[-1].text == "Not available."


@proves("4", "6.3")
async def test_a_hidden_tool_is_not_told_of_and_cannot_be_called(caplog):
    app = application(opener(Contribution(hidden=(WEATHER,))))
    model = ScriptedModel(CALL, saying("Sorry."))

    await events_of(app, model)

    assert [list(request.tools) for request in model.asked] == [[], []]
    assert model.asked[1].messages[-1].text == (
        "This tool is not available to you: the platform calls it automatically. "
        "Do not call it; continue without it."
    )
    assert "hidden from it: ['weather']" in caplog.text
    with pytest.raises(BadRequest, match="already has a tool named 'weather'"):
        await events_of(app, ScriptedModel(), external={"weather": spec("weather")})


async def test_without_its_prompt_an_application_says_so_and_asks_no_model(caplog):
    caplog.set_level(logging.INFO, "apps.runs.run")
    prompt = {"type": "dial", "path": "prompts/public/pirate"}
    model = ScriptedModel()

    events = await events_of(application(system_prompt=prompt), model)

    assert events[0] == StageOpened("initialization-issues", "Initialization issues")
    assert isinstance(events[1], StageDelta)
    assert events[1].text.startswith(
        "#### Application configuration\n\n- orchestrator.system_prompt: "
    )
    assert "prompts/public/pirate" in events[1].text
    assert events[2:] == [StageClosed("initialization-issues", 0.0, failed=True), RunFinished()]
    assert model.asked == []
    assert "outcome=failed iterations=0" in caplog.text


@proves("4", "T-02")
async def test_a_run_that_reaches_its_limit_leaves_its_state():
    app = application(opener(Contribution(tools=(WEATHER,))), max_iterations=1)

    events = await events_before(StepLimitReached, app, workspace_of(ScriptedModel(CALL)))

    assert events == [StateSaved({"tool_execution_history": KEPT})]


@proves("4")
async def test_a_limit_that_is_none_is_told_and_the_installations_counts(settings):
    settings.DEFAULT_AGENT_MAX_ITERATIONS = 1
    app = application(opener(Contribution(tools=(WEATHER,))), max_iterations=0)

    events = await events_before(StepLimitReached, app, workspace_of(ScriptedModel(CALL)))

    assert stage_text(events) == (
        "#### Orchestrator\n\n- orchestrator.max_iterations: 0 is not a valid number of model calls; use 1 or more, or -1 for no limit. Until then the limit is 1.\n"
    )
    assert events[-1] == StateSaved({"tool_execution_history": KEPT})


@proves("4")
async def test_a_cancelled_run_closes_everything_and_saves_its_state(caplog):
    caplog.set_level(logging.INFO, "apps.runs.run")
    started, is_closed = asyncio.Event(), []
    events: list[Event] = []

    async def hangs(invocation: Invocation) -> ToolResult:
        with open_stage(invocation.emit, invocation.id, "Hanging"):
            started.set()
            await asyncio.Event().wait()
        return ToolResult("")

    @asynccontextmanager
    async def opened(opening):
        try:
            yield Contribution(tools=(WEATHER, async_tool("hang", hangs)))
        finally:
            is_closed.append(True)

    model = ScriptedModel(CALL, calling(("2", "hang", {})))
    work = run_application(
        application(opened),
        RunRequest((QUESTION,)),
        workspace_of(model),
        CALLER,
        events.append,
    )
    task = asyncio.create_task(work)
    async with asyncio.timeout(60):
        await started.wait()
        task.cancel()
        await asyncio.wait([task])

    assert task.cancelled()
    assert is_closed == [True]
    assert without_durations(events) == [
        StageOpened("2", "Hanging"),
        StageClosed("2", 0.0, failed=True),
        StateSaved({"tool_execution_history": KEPT}),
    ]
    assert "outcome=cancelled" in caplog.text


async def test_an_unknown_deployment_ends_the_request():
    assert await events_before(DeploymentNotFound, application(), FakeWorkspace(CALLER)) == []


async def test_a_tool_of_the_client_may_not_have_the_name_of_one_of_ours():
    with pytest.raises(BadRequest, match="already has a tool named 'weather'"):
        await events_of(with_tools(WEATHER), ScriptedModel(), external={"weather": spec("weather")})


@proves("4")
@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "weather"}}]
)
async def test_a_tool_can_only_be_demanded_where_there_is_one(choice):
    with pytest.raises(BadRequest, match="Cannot enforce tool_choice"):
        await events_of(application(), ScriptedModel(), tool_choice=choice)


@proves("4")
@pytest.mark.parametrize("name", ["hidden", "wether"])
async def test_a_tool_that_the_model_does_not_have_cannot_be_demanded(name):
    hidden = tool("hidden", lambda arguments: "")
    app = application(opener(Contribution(tools=(WEATHER,), hidden=(hidden,))))
    choice = {"type": "function", "function": {"name": name}}

    with pytest.raises(BadRequest) as refused:
        await events_of(app, ScriptedModel(), tool_choice=choice)

    assert str(refused.value) == (
        f"Cannot enforce tool_choice: no tool is named '{name}'. Use a tool of the application or the request, or tool_choice='auto'."
    )


async def test_results_of_the_applications_own_tools_are_refused():
    """No answer returns them as messages, because they are part of its state. A client assembled
    such a conversation, and the model would trust it like results of the operator's tools. This
    applies whatever the arguments of the calls are, also to empty ones."""
    with pytest.raises(BadRequest) as refused:
        await events_of(with_tools(WEATHER), ScriptedModel(), textual_results={"weather", "news"})

    assert str(refused.value) == (
        "The messages contain results from the application's internal tools 'weather'. "
        "Leave these messages out."
    )


@proves("R-15")
@pytest.mark.parametrize(
    ("allowed", "prompt"), [(False, "Be brief.\n\nA part.\n\nBe kind."), (True, "Be kind.\n\nA part.")]
)  # fmt: skip
async def test_instructions_of_a_client_stand_below_the_prompt_or_in_its_place(
    settings, allowed, prompt
):
    settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE = allowed
    model = ScriptedModel(saying("Hello"))
    app = application(opener(Contribution(instructions=("A part.",))), prompt="Be brief.")

    await events_of(app, model, instructions="Be kind.")

    assert model.asked[0].messages[0] == ModelMessage("system", prompt)


@proves("R-15")
@pytest.mark.parametrize("allowed", [True, False])
async def test_the_system_message_of_a_client_is_used_only_where_that_is_allowed(settings, allowed):
    settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE = allowed
    model = ScriptedModel(saying("Hello"))

    await events_of(application(prompt="Ours."), model, ModelMessage("system", "Theirs."), QUESTION)

    assert model.asked[0].messages[0].text == ("Theirs." if allowed else "Ours.")


async def test_a_capability_arranges_the_tools_of_all_the_others():
    def withhold(toolbox) -> None:
        toolbox.unlisted["weather"] = toolbox.listed.pop("weather")

    app = application(
        opener(Contribution(arrange=(withhold,))), opener(Contribution(tools=(WEATHER,)))
    )
    model = ScriptedModel(CALL, saying("12 degrees"))

    events = await events_of(app, model)

    assert [list(request.tools) for request in model.asked] == [[], []]
    assert events[-2] == StateSaved({"tool_execution_history": KEPT})
    with pytest.raises(BadRequest, match="already has a tool named 'weather'"):
        await events_of(app, ScriptedModel(), external={"weather": spec("weather")})


async def test_an_effort_that_the_model_does_not_know_is_told_and_the_run_goes_on():
    model = ScriptedModel(saying("Hello"))
    deployment = {"deployment_id": "gpt", "parameters": {"reasoning_effort": "minimal", "seed": 1}}
    app = application(deployment=deployment)

    opened, told, closed, *rest = await events_of(app, model, info={"reasoning_efforts": ("low",)})

    assert opened == StageOpened("initialization-issues", "Initialization issues")
    assert isinstance(told, StageDelta)
    assert told.text.startswith("#### Orchestrator\n\n- orchestrator.deployment.parameters.")
    assert closed == StageClosed("initialization-issues", 0.0)
    assert rest[0] == TextDelta("Hello")
    assert model.asked[0].parameters == {"seed": 1}


async def test_where_the_time_went_is_told_last_if_the_installation_says_so(settings):
    settings.SHOW_EXECUTION_TIME_STAGE = True
    model = ScriptedModel(CALL, saying("12 degrees"))

    *_, opened, told, closed, _ = await events_of(with_tools(WEATHER), model)

    assert opened == StageOpened("execution-time", "Execution time")
    assert isinstance(told, StageDelta)
    assert [line.split(" | ")[0] for line in told.text.splitlines()] == [
        "| Step",
        "| ---",
        "| Model gpt",
        "| Tool `weather`",
        "| Model gpt",
        "| **Total**",
    ]
    assert closed == StageClosed("execution-time", 0.0)


async def test_a_run_that_fails_does_not_tell_where_the_time_went(settings):
    settings.SHOW_EXECUTION_TIME_STAGE = True
    model = ScriptedModel([text("Hel"), ModelFailed("cut", reason="stream")])

    events = await events_before(ModelFailed, application(), workspace_of(model))

    assert not any(isinstance(event, StageOpened) for event in events)


@proves("T-06")
@pytest.mark.parametrize(("kind", "asked"), [("user", 2), ("key", 2), ("dial", 4)])
async def test_t_06_an_answer_ends_when_tools_keep_failing_but_not_for_dial(kind, asked):
    def fail(arguments):
        raise ToolError("There is no such city.")

    model = ScriptedModel(CALL, CALL, CALL, saying("Done"))
    caller = replace(CALLER, kind=kind)
    request = RunRequest((QUESTION,))

    with suppress(ToolsKeepFailing):
        app = with_tools(tool("weather", fail))
        await run_application(app, request, workspace_of(model), caller, lambda event: None)

    assert len(model.asked) == asked


GIVEN_UP = r"can['\u2019]t (?:proceed|go on)"


@proves("T-06")
@pytest.mark.parametrize(
    ("phrases", "kind", "asked"),
    [([], "user", 2), ([GIVEN_UP], "user", 1), ([GIVEN_UP], "dial", 2)],
)
async def test_t_06_a_dead_end_ends_an_answer_if_the_installation_says_so_and_never_over_dial(
    settings, phrases, kind, asked
):
    settings.DEAD_END_PHRASES = phrases
    model = ScriptedModel([text("I can't go on."), *CALL], saying("12"))
    asking = (RunRequest((QUESTION,)), workspace_of(model), replace(CALLER, kind=kind))

    await run_application(with_tools(WEATHER), *asking, lambda event: None)

    assert len(model.asked) == asked
