"""Our own application as a deployment: found, called, canceled, refused."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, cast

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller, ClientInfo, KeyLimits
from apps.agent.answers.replies import ask_model
from apps.agent.events import (
    Event,
    ModelUsage,
    RefusalDelta,
    StageClosed,
    StageDelta,
    StageOpened,
    StateSaved,
    TextDelta,
    Usage,
)
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.model import Model, ModelRequest, Reply, StagePart
from apps.agent.tools import ToolSpec
from apps.errors import CallsItself, DeploymentNotFound, ModelFailed
from apps.runs.failures import WITH_LIMITS, failure
from apps.runs.workspaces import ApplicationModel, open_workspace
from apps.workspace.port import DeploymentInfo
from tests.capabilities.manifests import timeless
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.contract import proves
from tests.fakes import OBJECT, ModelsWorkspace, ScriptedModel, calling, saying, text, thinks

pytestmark = pytest.mark.django_db

CALLER = Caller("user-1", "key")
QUESTION = ModelRequest((ModelMessage("user", "How warm is it?"),))
READ_SKILL = "internal_skills_read_skill"
PROMPT = {"type": "custom", "content": "You help.", "variables": {}}


def workspace_of(caller: Caller = CALLER, **models: Model) -> ModelsWorkspace:
    return ModelsWorkspace(caller, models)


def driven_by(name: str, **changes: Any) -> dict[str, Any]:
    orchestrator = {"deployment": {"deployment_id": name}, "system_prompt": PROMPT}
    return manifest_with(orchestrator=orchestrator, features=None, **changes)


async def reply_of(
    model: Model, request: ModelRequest = QUESTION, emit=lambda event: None
) -> Reply:
    return await ask_model(model, request, emit, name="inner", stage_prefix="s-", stage_parent="s")


async def make(slug: str, **fields: Any) -> int:
    return (await sync_to_async(make_application)(slug, **fields)).pk


async def test_an_application_is_known_by_its_title_and_description():
    await make("weather", title="Weather", description="Knows the weather.")

    assert await workspace_of().deployment("weather") == DeploymentInfo(
        "weather",
        "Weather",
        "Knows the weather.",
        {"tools": True},
        is_application=True,
        is_recorded=True,
    )


async def test_an_application_answers_as_a_model_does():
    await make("weather", manifest=driven_by("gpt"))
    gpt = ScriptedModel(saying("12 degrees", prompt=9, completion=3))

    reply = await reply_of(await workspace_of(gpt=gpt).model("weather"))

    assert reply == Reply(
        ModelMessage("assistant", "12 degrees", model_state={"tool_execution_history": []}),
        "stop",
        (ModelUsage("gpt", 9, 3),),
    )
    prompt, asked, *_ = gpt.asked[0].messages
    assert (prompt.text.partition("\n")[0], asked.text) == ("You help.", "How warm is it?")


@proves("15")
async def test_an_application_that_drives_another_has_skills_of_its_own():
    await make("inner", manifest=driven_by("gpt"))
    read = ToolSpec(READ_SKILL, "The outer one's.", OBJECT)
    gpt = ScriptedModel(
        calling(("1", READ_SKILL, {"skill_name": "dial-memory"})), saying("I have read it.")
    )
    request = ModelRequest(QUESTION.messages, (read, ToolSpec("look", "Looks.", OBJECT)))

    reply = await reply_of(await workspace_of(gpt=gpt).model("inner"), request)

    assert (reply.finish_reason, reply.message.text) == ("stop", "I have read it.")
    assert [spec.name for spec in gpt.asked[0].tools] == [READ_SKILL, "look"]
    assert gpt.asked[0].tools[0].description != read.description
    assert gpt.asked[1].messages[-1].text.startswith("---\nname: dial-memory\n")


async def test_an_application_can_drive_another_one_and_is_shown_its_tools():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel(calling(("1", "look", "{}")))
    request = ModelRequest(
        QUESTION.messages, (ToolSpec("look", "Looks.", OBJECT),), {"tool_choice": "required"}
    )

    reply = await reply_of(await workspace_of(gpt=gpt).model("inner"), request)

    assert (reply.finish_reason, reply.message.tool_calls) == (
        "tool_calls",
        (ToolCall("1", "look", "{}"),),
    )
    assert gpt.asked[0].parameters == {"tool_choice": "required"}


async def test_what_it_shows_stands_below_whoever_asked():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel([StagePart(0, "Thinking", "hm", failed=False), *saying("Done")])
    events: list[Event] = []

    await reply_of(await workspace_of(gpt=gpt).model("inner"), emit=events.append)

    assert timeless(events) == [
        StageOpened("s-model-1-0", "Thinking", "s"),
        StageDelta("s-model-1-0", "hm"),
        StageClosed("s-model-1-0", 0.0),
        TextDelta("Done"),
    ]


async def test_what_its_model_thinks_is_a_step_of_it_and_its_refusal_is_one():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel([thinks("hm"), RefusalDelta("I may not."), *saying("")])
    events: list[Event] = []

    reply = await reply_of(await workspace_of(gpt=gpt).model("inner"), emit=events.append)

    assert timeless(events) == [
        StageOpened("s-model-1-thinking-1", "Thinking", "s"),
        StageDelta("s-model-1-thinking-1", "hm"),
        StageClosed("s-model-1-thinking-1", 0.0),
        RefusalDelta("I may not."),
    ]
    assert reply.message.text == "I may not."


async def test_what_it_spent_keeps_its_details():
    await make("inner", manifest=driven_by("gpt"))
    usage = Usage(9, 3, cached=8, created=1, reasoning=2)
    gpt = ScriptedModel([*saying("Done"), usage])

    reply = await reply_of(await workspace_of(gpt=gpt).model("inner"))

    assert reply.usage == (ModelUsage("gpt", 9, 3, 8, 1, 2),)


async def test_a_limit_of_its_model_is_one_of_it():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel([ModelFailed("slow down", status=429, retry_after=7.0)])

    with pytest.raises(ModelFailed) as failed:
        await reply_of(await workspace_of(gpt=gpt).model("inner"))

    error = failed.value
    assert (error.status, error.retry_after, error.is_transient) == (429, 7.0, False)
    assert (failure(error).status, failure(error, WITH_LIMITS).code) == (500, "429")


async def test_a_run_that_fails_is_a_model_that_fails_with_a_text_for_people():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel([text("Well"), ModelFailed("slow down", status=429)])

    with pytest.raises(ModelFailed) as failed:
        await reply_of(await workspace_of(gpt=gpt).model("inner"))

    assert failed.value.display.startswith(
        "The request was rate-limited by the AI model service. Please try again later. "
        "(error reference: "
    )


async def test_whoever_stops_listening_stops_the_run_and_its_model():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel([text("Well"), ScriptedModel.never])
    model = await workspace_of(gpt=gpt).model("inner")

    async with aclosing(model.stream(QUESTION)) as batches:
        await anext(batches)
        await asyncio.wait_for(gpt.waiting.wait(), 60)

    assert gpt.closed.is_set()


@pytest.mark.parametrize(
    ("caller", "fields"),
    [
        (Caller("session-1"), {}),
        (Caller("key-1", "key", limits=KeyLimits(scope=frozenset())), {}),
        (
            Caller("key-1", "key", limits=KeyLimits(scope=frozenset())),
            {"manifest": {"broken": True}},
        ),
        (CALLER, {"is_enabled": False}),
    ],
)
async def test_an_application_that_the_caller_may_not_use_is_not_found(caller, fields):
    await make("inner", **fields)

    for name in ("inner", "missing", "files/a b", "a\0b"):
        with pytest.raises(DeploymentNotFound):
            await open_workspace(caller).deployment(name)


async def test_a_key_finds_the_applications_of_its_scope():
    number = await make("inner")
    caller = Caller("key-1", "key", limits=KeyLimits(scope=frozenset({number})))

    assert (await open_workspace(caller).deployment("inner")).id == "inner"


async def test_a_model_comes_before_an_application_of_its_name():
    await make("twice", title="An application")
    await sync_to_async(make_deployment)("twice", display_name="A model")

    assert (await open_workspace(CALLER).deployment("twice")).display_name == "A model"


async def test_a_circle_is_refused_before_anybody_is_asked():
    await make("a", manifest=driven_by("b"))
    await make("b", manifest=driven_by("a"))

    with pytest.raises(CallsItself) as refused:
        await workspace_of().inside("a").inside("b").model("a")
    with pytest.raises(ModelFailed) as failed:
        await reply_of(await workspace_of().model("a"))

    assert str(refused.value) == (
        "An application can’t call itself: a → b → a. Please contact your administrator."
    )
    assert "a → b → a" in failed.value.display


async def test_no_more_than_five_applications_stand_below_each_other():
    await make("end")
    five = workspace_of().inside("1").inside("2").inside("3").inside("4")

    assert (await five.deployment("end")).id == "end"
    limit = "Too many applications call each other; the limit is 5: 1 → 2 → 3 → 4 → 5 → end"
    with pytest.raises(CallsItself, match=limit):
        await five.inside("5").deployment("end")


@proves("7.2")
async def test_only_the_named_headers_go_along():
    await make("inner", manifest=driven_by("gpt"))
    caller = Caller(
        "user-1", "user", client=ClientInfo(headers={"X-Tenant": "acme", "X-Other": "1"})
    )
    workspace = workspace_of(caller, gpt=ScriptedModel())

    seen = [
        cast(
            ApplicationModel, await workspace.model("inner", headers=names)
        ).workspace.caller.client.headers
        for names in (None, [], ["x-tenant"])
    ]

    assert seen == [{"X-Tenant": "acme", "X-Other": "1"}, {}, {"X-Tenant": "acme"}]


async def test_its_state_comes_back_to_it_as_its_own():
    await make("inner", manifest=driven_by("gpt"))
    first = ScriptedModel([StateSaved({"thread": 7}), *saying("Hello")], saying("Again"))
    model = await workspace_of(gpt=first).model("inner")

    answer = (await reply_of(model)).message
    messages = (*QUESTION.messages, answer, ModelMessage("user", "And now?"))
    await reply_of(model, ModelRequest(messages))

    assert answer.model_state == {"tool_execution_history": [], "orchestrator": {"thread": 7}}
    said = ModelMessage("assistant", "Hello", model_state={"thread": 7})
    assert [m for m in first.asked[1].messages if m.text == "Hello"] == [said]


async def test_what_a_failed_run_cost_is_told_all_the_same():
    await make("inner", manifest=driven_by("gpt"))
    gpt = ScriptedModel([text("We"), Usage(9, 1), ModelFailed("cut", reason="stream")])
    spent: list[ModelUsage] = []
    model = await workspace_of(gpt=gpt).model("inner")

    with pytest.raises(ModelFailed):
        await ask_model(model, QUESTION, lambda event: None, name="inner", spend=spent.extend)

    assert spent == [ModelUsage("gpt", 9, 1)]
