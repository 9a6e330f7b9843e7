import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import pytest

from apps.accounts.caller import Caller, ClientInfo
from apps.agent.events import (
    AttachmentAdded,
    Event,
    ModelUsage,
    Reasoning,
    RefusalDelta,
    RunFinished,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StateSaved,
    TextDelta,
    Usage,
)
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import Delta, ModelRequest
from apps.agent.tools import ToolSpec
from apps.capabilities.subagents.capability import SubagentTools, make_tool, subagents
from apps.capabilities.subagents.types import offer_of
from apps.errors import ModelFailed
from apps.manifest.manifest import Manifest
from apps.manifest.validation.validation import read_manifest
from tests.capabilities import runs
from tests.capabilities.manifests import OTHERWISE, timeless
from tests.capabilities.runs import application, led_by, results
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, calling, finish, saying, text, thinks
from tests.manifest.documents import internal_tools, manifest, rest_tools
from tests.tables import each_row

CALLER = Caller("user-7", client=ClientInfo(headers={"x-trace": "7"}))
QUESTION = ModelMessage("user", "Compare them.")
CLOCK = "internal_timeawareness_current_timestamp"


def helped(*tool_sets: Mapping[str, Any], features: Any = None, **wanted: Any) -> Manifest:
    """Return a manifest of the model `gpt` with sub-agents."""
    lead = led_by(prompt="You are the lead of {team}.")
    lead["system_prompt"]["variables"] = {"team": "all"}
    document = manifest(
        orchestrator=lead,
        tool_sets=list(tool_sets),
        features={"timestamp": None, "subagents": {"enabled": True, **wanted}, **(features or {})},
    )
    return read_manifest(document, preview=True)


def asking(deployment_id: str, name: str = "experts") -> dict[str, Any]:
    tool = {"type": "dial-deployment-simple", "deployment_id": deployment_id}
    return {"type": "dial-deployment", "name": name, "tools": [tool]}


def task(call_id: str, prompt: str, *tool_sets: str) -> tuple[str, str, object]:
    arguments = {"subagent_type": "general-purpose", "prompt": prompt, "tool_sets": list(tool_sets)}
    return call_id, "internal_task", arguments


def task_of(kind: str, prompt: str = "Do.", **more: object) -> tuple[str, str, object]:
    return "1", "internal_task", {"subagent_type": kind, "prompt": prompt, **more}


def kind(name: str, **fields: Any) -> dict[str, Any]:
    """Return a declared type of sub-agent."""
    return {
        "name": name,
        "description": f"Does {name}.",
        "system_prompt": f"You are the {name}.",
        **fields,
    }


async def events_of(
    document: Manifest, models: Mapping[str, Any], *messages: ModelMessage
) -> list[Event]:
    return timeless(await runs.events_of(application(document), models, *(messages or (QUESTION,))))


async def test_what_a_client_wishes_of_the_model_is_no_wish_of_its_subagents():
    model = ScriptedModel(
        calling(task("1", "Sum up the harbour.")), saying("It is large."), saying("Large.")
    )
    wishes: dict[str, Any] = {
        "parameters": {"max_tokens": 5, "user": "u"},
        "instructions": "Be kind.",
    }

    await runs.events_of(application(helped()), {"gpt": model}, QUESTION, **wishes)

    assert [dict(asked.parameters) for asked in model.asked] == [
        {"max_tokens": 5, "user": "u"},
        {},
        {"max_tokens": 5, "user": "u"},
    ]
    assert "Be kind." not in model.asked[1].messages[0].text


@proves("18")
async def test_a_subagent_sees_its_task_alone_and_its_last_words_are_the_result():
    model = ScriptedModel(
        calling(task("1", "Sum up the harbour.")),
        [text("It is "), text("large."), finish()],
        saying("Large."),
    )

    events = await events_of(helped(general_purpose={"system_prompt": "You help."}), {"gpt": model})

    lead, subagent, _ = model.asked
    assert [(m.role, m.text) for m in subagent.messages] == [
        ("system", "You help."),
        ("user", "Sum up the harbour."),
    ]
    assert [tool.name for tool in lead.tools] == ["internal_task"]
    assert list(subagent.tools) == []
    assert lead.messages[0].text == "You are the lead of all."
    assert results(model, 2) == ["It is large."]
    assert [event for event in events if not isinstance(event, StateSaved)] == [
        StageOpened("1", "Subagent"),
        StageDelta(
            "1",
            "**Subagent:** general-purpose\n\n**Task:** Sum up the harbour.\n\n**Tools:** none\n\n",
        ),
        StageDelta("1", "> #### Response:\n"),
        StageDelta("1", "It is "),
        StageDelta("1", "large."),
        StageClosed("1", 0.0),
        TextDelta("Large."),
        RunFinished(),
    ]


async def test_a_subagent_without_a_prompt_of_its_own_gets_ours():
    model = ScriptedModel(calling(task("1", "Do.")), saying("Done"), saying("ok"))

    await events_of(helped(), {"gpt": model})

    prompt = model.asked[1].messages[0].text
    assert prompt.startswith("You work on one task for another assistant")
    assert "lead" not in prompt


async def test_a_subagent_has_the_toolsets_that_were_chosen_and_its_stages_stand_below_the_task():
    document = helped(asking("oracle"), asking("poet", "poets"), internal_tools(CLOCK))
    model = ScriptedModel(
        calling(task("1", "Ask.", "experts")),
        [text("Let me ask."), *calling(("1", "oracle", {"query": "Why?"}))],
        saying("Because."),
        saying("ok"),
    )
    oracle = ScriptedModel(saying("So it is."))

    events = await events_of(document, {"gpt": model, "oracle": oracle, "poet": ScriptedModel()})

    assert sorted(tool.name for tool in model.asked[0].tools) == [
        "internal_task", CLOCK, "oracle", "poet",
    ]  # fmt: skip
    assert [tool.name for tool in model.asked[1].tools] == ["oracle"]
    assert results(model, 3) == ["Because."]
    opened = [event for event in events if isinstance(event, StageOpened)]
    assert opened == [StageOpened("1", "Subagent"), StageOpened("1-1", "experts · oracle", "1")]
    assert [e.stage_id for e in events if isinstance(e, StageClosed)] == ["1-1", "1"]
    assert not any("Let me ask" in e.text for e in events if isinstance(e, TextDelta))
    assert "Let me ask." in "".join(
        e.text for e in events if isinstance(e, StageDelta) and e.stage_id == "1"
    )


async def test_stages_of_subagents_can_be_left_out():
    display = {"stage_display": {"propagate_sub_stages": False}}
    model = ScriptedModel(
        calling(task("1", "Ask.", "experts")),
        calling(("1", "oracle", {"query": "?"})),
        saying("a"),
        saying("b"),
    )

    events = await events_of(
        helped(asking("oracle"), features=display),
        {"gpt": model, "oracle": ScriptedModel(saying("x"))},
    )

    assert [e.stage_id for e in events if isinstance(e, StageOpened)] == ["1"]


TOOL_SETS_DESCRIPTION = (
    "Only for general-purpose, where it is required: the toolsets that the sub-agent may use, [] for "
    "none. Give it only those that the task needs. Omit it for other sub-agents. Toolsets:\n"
)


def spec_of(document: Manifest) -> ToolSpec:
    assert document.features is not None
    assert document.features.subagents is not None
    offer = offer_of(document, document.features.subagents)
    return make_tool(SubagentTools(document, offer, 60)).spec


@proves("18")
def test_the_model_reads_the_types_in_their_order_and_the_enabled_toolsets():
    document = helped(
        rest_tools(name={"de": "Laden", "en": "Shop"}, description="Orders."),
        asking("poet"),
        rest_tools(name="Off", enabled=False),
        {"type": "dial-mcp", "deployment_id": "toolsets/public/my%20notes"},
        types=[kind("scout"), kind("poet", description="Writes\nverses.")],
    )

    spec = spec_of(document)

    assert spec.name == "internal_task"
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "subagent_type": {
                "type": "string",
                "enum": ["general-purpose", "scout", "poet"],
                "description": "The sub-agent that works on the task.",
            },
            "prompt": {
                "type": "string",
                "description": "The task, with everything that the sub-agent needs to know.",
            },
            "tool_sets": {
                "type": "array",
                "items": {"type": "string", "enum": ["Shop", "experts", "my notes"]},
                "description": f"{TOOL_SETS_DESCRIPTION}- Shop: Orders.\n- experts\n- my notes",
            },
        },
        "required": ["subagent_type", "prompt"],
    }
    assert spec.description.endswith(
        "Sub-agents:\n- general-purpose: Works on any task, with the toolsets that you choose in "
        "tool_sets.\n- scout: Does scout.\n- poet: Writes verses."
    )


def test_without_toolsets_any_name_fits_the_schema_and_the_model_reads_that_there_are_none():
    assert spec_of(helped()).parameters["properties"]["tool_sets"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": f"{TOOL_SETS_DESCRIPTION}- (none)",
    }


def test_without_a_general_purpose_sub_agent_there_is_no_choice_of_toolsets():
    document = helped(asking("poet"), general_purpose=None, types=[kind("general-purpose")])

    parameters = spec_of(document).parameters

    assert list(parameters["properties"]) == ["subagent_type", "prompt"]
    assert parameters["properties"]["subagent_type"]["enum"] == ["general-purpose"]


VALID = "Valid toolsets: experts; [] for no toolset."
REFUSED: list[tuple[object, str, str]] = [
    (task_of("general-purpose"), "tool_sets", f"it is required but missing. {VALID}"),
    (
        task_of("general-purpose", tool_sets=None),
        "tool_sets",
        f"it is required but missing. {VALID}",
    ),
    (
        task_of("general-purpose", tool_sets="experts"),
        "tool_sets",
        f"it must be a list of strings. {VALID}",
    ),
    (
        task_of("general-purpose", tool_sets=[1]),
        "tool_sets",
        f"it must be a list of strings. {VALID}",
    ),
    (
        task_of("general-purpose", tool_sets=["experts", "nobody"]),
        "tool_sets",
        f"unknown toolset 'nobody'. {VALID}",
    ),
    (
        task_of("scout", tool_sets=["experts"]),
        "tool_sets",
        "'scout' has a fixed set of tools. Omit this parameter.",
    ),
    (
        task_of("scout", tool_sets=[]),
        "tool_sets",
        "'scout' has a fixed set of tools. Omit this parameter.",
    ),
    (
        task_of("nobody", tool_sets=[]),
        "subagent_type",
        "unknown sub-agent 'nobody'. Valid: general-purpose, scout.",
    ),
    (task_of("scout", " "), "prompt", "it is empty. Describe the task."),
]


@proves("18")
@each_row(("call", "parameter", "problem"), REFUSED)
async def test_a_wrong_call_is_refused_with_the_valid_names_and_starts_nothing(
    call, parameter, problem
):
    model = ScriptedModel(calling(call), saying("ok"))
    document = helped(asking("poet"), types=[kind("scout")])

    await events_of(document, {"gpt": model, "poet": ScriptedModel()})

    advice = "Correct it and call the tool again."
    assert results(model, 1) == [f"Error: Parameter {parameter} is invalid: {problem}\n\n{advice}"]
    assert len(model.asked) == 2


@proves("18")
@each_row(
    ("named", "tools"),
    [
        (None, ["oracle", "poet"]),
        (["experts"], ["oracle"]),
        (["nobody", "poets"], ["poet"]),
        ([], []),
    ],
)
async def test_a_declared_type_has_its_prompt_and_its_toolsets(named, tools):
    document = helped(
        asking("oracle"), asking("poet", "poets"), types=[kind("scout", tool_sets=named)]
    )
    model = ScriptedModel(
        calling(task_of("scout", "Look around.")), saying("All is calm."), saying("ok")
    )

    events = await events_of(
        document, {"gpt": model, "oracle": ScriptedModel(), "poet": ScriptedModel()}
    )

    scout = model.asked[1]
    assert [m.text for m in scout.messages] == ["You are the scout.", "Look around."]
    assert sorted(tool.name for tool in scout.tools) == tools
    assert results(model, 2) == ["All is calm."]
    assert StageDelta("1", "**Subagent:** scout\n\n**Task:** Look around.\n\n") in events


async def test_a_declared_type_may_have_a_model_and_a_limit_of_its_own():
    scout = kind("scout", deployment_id="small", max_iterations=1)
    model = ScriptedModel(calling(task_of("scout")), saying("ok"))
    small = ScriptedModel(calling(("1", "oracle", {"query": "?"})))

    await events_of(
        helped(asking("oracle"), types=[scout]),
        {"gpt": model, "small": small, "oracle": ScriptedModel(saying("x"))},
    )

    assert len(small.asked) == 1
    assert results(model, 1) == [f"internal_task: Agent stopped due to max iterations.{OTHERWISE}"]


@proves("18")
async def test_names_of_missing_toolsets_are_issues_and_a_type_that_lost_all_of_them_fails():
    types = [kind("scout", tool_sets=["nobody", "off"]), kind("poet", tool_sets=["experts", "no"])]
    document = helped(asking("oracle"), rest_tools(name="off", enabled=False), types=types)
    model = ScriptedModel(calling(task_of("scout")), saying("ok"))

    events = await events_of(document, {"gpt": model, "oracle": ScriptedModel()})

    missing = "there is no enabled toolset {} (there are: experts), so the sub-agent {} does not"
    report = "".join(e.text for e in events if isinstance(e, StageDelta) and e.stage_id != "1")
    for index, name, subagent in (
        (0, "'nobody'", "'scout'"),
        (0, "'off'", "'scout'"),
        (1, "'no'", "'poet'"),
    ):
        text = missing.format(name, subagent)
        assert f"features.subagents.types[{index}].tool_sets: {text} have it." in report
    assert results(model, 1) == [
        f"The sub-agent 'scout' was not started, because none of its toolsets is available. Continue without it.{OTHERWISE}"
    ]
    assert len(model.asked) == 2


async def test_a_sub_agent_has_no_sub_agents():
    model = ScriptedModel(calling(task_of("scout")), saying("Done."), saying("ok"))

    await events_of(helped(types=[kind("scout")]), {"gpt": model})

    assert [[tool.name for tool in asked.tools] for asked in model.asked] == [
        ["internal_task"],
        [],
        ["internal_task"],
    ]


async def test_another_model_and_fewer_calls_of_it_can_be_set_for_subagents():
    document = helped(
        asking("oracle"), general_purpose={"deployment_id": "small", "max_iterations": 1}
    )
    model = ScriptedModel(calling(task("1", "Ask.", "experts")), saying("ok"))
    small = ScriptedModel(calling(("1", "oracle", {"query": "?"})))

    await events_of(document, {"gpt": model, "small": small, "oracle": ScriptedModel(saying("x"))})

    assert len(small.asked) == 1
    assert results(model, 1) == [f"internal_task: Agent stopped due to max iterations.{OTHERWISE}"]


FAILURES: list[tuple[list[Any], str]] = [
    (
        [ModelFailed("status 500", display="The model is resting.")],
        "internal_task: The model is resting.",
    ),
    ([finish()], "The sub-agent ended without an answer. Try again, or continue without it."),
    (saying(" \n"), "The sub-agent ended without an answer. Try again, or continue without it."),
]


@pytest.mark.parametrize(("script", "told"), FAILURES)
async def test_a_subagent_that_fails_or_says_nothing_is_an_error_for_the_model(script, told):
    model = ScriptedModel(calling(task("1", "Do.")), script, saying("ok"))

    events = await events_of(helped(), {"gpt": model})

    assert results(model, 2) == [f"{told}{OTHERWISE}"]
    assert events[-1] == RunFinished()


@proves("18")
async def test_what_subagents_spend_is_added_up_whether_they_succeed_or_not():
    model = ScriptedModel(
        calling(task("1", "a"), task("2", "b")),
        saying("one", prompt=10, completion=1),
        [text("tw"), Usage(20, 2), ModelFailed("gone")],
        saying("ok", prompt=5, completion=5),
    )

    events = await events_of(helped(), {"gpt": model})

    assert events[-1] == RunFinished("stop", Usage(35, 8, (ModelUsage("gpt", 35, 8),)))


async def test_what_a_subagent_attaches_comes_back_and_stands_on_the_answer():
    chart = Attachment("image/png", "Chart", url="files/user-7/chart.png")
    drawn = AttachmentAdded(chart)
    model = ScriptedModel(calling(task("1", "Draw.")), [drawn, *saying("Drawn.")], saying("ok"))

    events = await events_of(helped(), {"gpt": model})

    assert [e for e in events if isinstance(e, StageAttachment | AttachmentAdded)] == [
        StageAttachment("1", chart),
        AttachmentAdded(chart),
    ]
    (saved,) = [event for event in events if isinstance(event, StateSaved)]
    result = saved.state["tool_execution_history"][-1]
    assert result["custom_content"] == {
        "attachments": [{"type": "image/png", "title": "Chart", "url": "files/user-7/chart.png"}]
    }


async def test_a_subagent_that_takes_too_long_is_stopped_and_its_model_with_it():
    model = ScriptedModel(
        calling(task("1", "Do.")), [text("We"), ScriptedModel.never], saying("ok")
    )

    await events_of(helped(timeout_seconds=0.1), {"gpt": model})

    assert model.closed.is_set()
    assert results(model, 2) == [
        "The tool call `internal_task` timed out after 0.1 seconds. "
        "Consider retrying with a smaller input or a simpler request."
    ]


async def test_the_installation_limits_the_time_of_every_application(settings):
    settings.SUBAGENT_TIMEOUT_SECONDS = 0.1
    model = ScriptedModel(calling(task("1", "Do.")), [ScriptedModel.never], saying("ok"))

    await events_of(helped(timeout_seconds=60), {"gpt": model})

    assert "timed out after 0.1 seconds" in results(model, 2)[0]


async def test_subagents_stand_on_what_their_run_stands_on():
    seen: list[tuple[Caller, tuple[str, ...]]] = []

    class Watched(FakeWorkspace):
        async def model(self, deployment_id: str, **wishes: Any) -> Any:
            seen.append((self.caller, self.chain))
            return await super().model(deployment_id, **wishes)

    workspace = Watched(CALLER)
    workspace.models = {"gpt": ScriptedModel(calling(task("1", "a")), saying("b"), saying("c"))}

    await runs.events_in(workspace, application(helped()), QUESTION)

    assert seen == [(CALLER, ("app",)), (CALLER, ("app",))]


class Office:
    """A model for the orchestrator and sub-agents: it assigns `tasks` once, and sub-agents wait for
    `open`."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self.open = asyncio.Event()
        self.working: list[str] = []
        self.most = 0
        self.order: list[str] = []
        self.started = asyncio.Condition()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        question = request.messages[-1]
        if question.role == "user" and not question.text.startswith("task "):
            yield calling(*(task(str(n), f"task {n}") for n in range(self.tasks)))
        elif question.role == "tool":
            yield saying("All is done.")
        else:
            async for batch in self.work(question.text):
                yield batch

    async def work(self, name: str) -> AsyncGenerator[Sequence[Delta], None]:
        self.working.append(name)
        self.order.append(name)
        self.most = max(self.most, len(self.working))
        async with self.started:
            self.started.notify_all()
        try:
            await self.open.wait()
            await asyncio.sleep(0)
            yield saying(f"{name} is done", prompt=1, completion=1)
        finally:
            self.working.remove(name)

    async def have_begun(self, count: int) -> None:
        async with asyncio.timeout(60), self.started:
            await self.started.wait_for(lambda: len(self.order) >= count)


@proves("18")
async def test_twenty_tasks_at_once_are_worked_on_four_at_a_time_in_their_order():
    office = Office(20)
    before = asyncio.all_tasks()
    running = asyncio.create_task(events_of(helped(), {"gpt": office}))
    await office.have_begun(4)
    assert len(office.working) == 4

    office.open.set()
    events = await asyncio.wait_for(running, 60)

    assert office.most == 4
    assert office.order == [f"task {n}" for n in range(20)]
    (saved,) = [event for event in events if isinstance(event, StateSaved)]
    history = saved.state["tool_execution_history"]
    assert [m["content"] for m in history if m["role"] == "tool"] == [
        f"task {n} is done" for n in range(20)
    ]
    assert events[-1] == RunFinished("stop", Usage(20, 20, (ModelUsage("gpt", 20, 20),)))
    assert asyncio.all_tasks() == before


async def test_who_is_cancelled_leaves_nothing_behind_and_others_get_the_turns():
    office, other = Office(20), Office(1)
    before = asyncio.all_tasks()
    events: list[Event] = []
    running = asyncio.create_task(
        runs.events_of(application(helped()), {"gpt": office}, QUESTION, events=events)
    )
    await office.have_begun(4)
    queued = asyncio.create_task(events_of(helped(), {"gpt": other}))
    late = asyncio.create_task(events_of(helped(), {"gpt": Office(1)}))
    await asyncio.sleep(0)

    late.cancel()
    running.cancel()

    for gone in (late, running):
        with pytest.raises(asyncio.CancelledError):
            await gone
    assert (office.working, len(office.order)) == ([], 4)
    assert {e.stage_id for e in events if isinstance(e, StageOpened)} == {
        e.stage_id for e in events if isinstance(e, StageClosed)
    }
    other.open.set()
    assert (await asyncio.wait_for(queued, 60))[-1] == RunFinished(
        "stop", Usage(1, 1, (ModelUsage("gpt", 1, 1),))
    )
    assert asyncio.all_tasks() == before


async def test_an_application_that_a_subagent_asks_may_have_subagents_itself(settings):
    """They do not wait for the slot of the task that waits for them."""
    settings.SUBAGENT_MAX_CONCURRENT_SPAWNS = 1
    inner = ScriptedModel(
        calling(task("1", "c"), task("2", "d")), saying("c!"), saying("d!"), saying("inner")
    )
    outer = ScriptedModel(
        calling(task("1", "Ask.", "experts")),
        calling(("1", "oracle", {"query": "?"})),
        saying("a"),
        saying("b"),
    )

    class Nested:
        """An application in the same process, as a deployment."""

        async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
            events = await events_of(helped(), {"gpt": inner})
            yield saying("".join(e.text for e in events if isinstance(e, TextDelta)))

    async with asyncio.timeout(60):
        await events_of(helped(asking("oracle")), {"gpt": outer, "oracle": Nested()})

    assert results(inner, 3) == ["c!", "d!"]
    assert results(outer, 3) == ["a"]


def test_without_preview_or_sub_agents_there_is_no_such_tool():
    off = {"subagents": {"enabled": False, "types": [kind("scout")]}}
    on = {"subagents": {"enabled": True}}
    empty = {"subagents": {"enabled": True, "general_purpose": None}}

    assert subagents.prepare(read_manifest(manifest(features=off), preview=True)) is None
    assert subagents.prepare(read_manifest(manifest(features=on), preview=False)) is None
    assert subagents.prepare(read_manifest(manifest(features=None), preview=True)) is None
    assert subagents.prepare(read_manifest(manifest(features={}), preview=True)) is None
    assert subagents.prepare(read_manifest(manifest(features=empty), preview=True)) is None
    assert subagents.prepare(read_manifest(manifest(features=on), preview=True)) is not None


async def test_what_a_subagent_thinks_is_a_step_below_its_task_and_a_refusal_is_its_report():
    refused = RefusalDelta("I may not.")
    model = ScriptedModel(
        calling(task("1", "Do.")), [thinks("Hm."), refused, finish()], saying("ok")
    )

    events = await events_of(helped(), {"gpt": model})

    assert results(model, 2) == ["I may not."]
    shown = [e for e in events if isinstance(e, StageOpened | StageDelta | StageClosed)]
    assert shown[3:] == [
        StageOpened("1-model-1-thinking-1", "Thinking", "1"),
        StageDelta("1-model-1-thinking-1", "Hm."),
        StageClosed("1-model-1-thinking-1", 0.0),
        StageDelta("1", "I may not."),
        StageClosed("1", 0.0),
    ]
    assert not any(isinstance(event, Reasoning | RefusalDelta) for event in events)
