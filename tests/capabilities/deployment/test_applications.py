"""One application of the installation calls another, from the request to the last event."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import (
    Event,
    ModelUsage,
    RunFinished,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
    Usage,
)
from apps.agent.messages import ModelMessage, to_dicts
from apps.agent.model import Model
from apps.catalog.resolve import resolve_application
from apps.errors import ModelFailed
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.capabilities.deployment.scripts import simple, team, written
from tests.capabilities.manifests import PROMPT, stage_text, timeless
from tests.capabilities.runs import events_in
from tests.catalog.rows import make_application
from tests.contract import proves
from tests.fakes import ModelsWorkspace, ScriptedModel, calling, saying, text

pytestmark = pytest.mark.django_db

CALLER = Caller("user-1", "key")
QUESTION = ModelMessage("user", "What is the time?")
CLOCK = "internal_timeawareness_current_timestamp"


async def make(slug: str, model: str, *tools: Mapping[str, Any], **fields: Any) -> None:
    manifest = {
        "orchestrator": {"deployment": {"deployment_id": model}, "system_prompt": PROMPT},
        "contexts": [],
        "tool_sets": [team(*tools)] if tools else [],
    }
    await sync_to_async(make_application)(slug, **{"manifest": manifest, **fields})


async def answer(
    slug: str, *messages: ModelMessage, caller: Caller = CALLER, emit=None, **models: Model
) -> list[Event]:
    workspace = ModelsWorkspace(caller, models)
    events: list[Event] = []
    request = RunRequest(messages or (QUESTION,))
    await run_application(
        await resolve_application(slug), request, workspace, caller, emit or events.append
    )
    return timeless(events)


def state(events: list[Event]) -> Mapping[str, Any]:
    (saved,) = [event.state for event in events if isinstance(event, StateSaved)]
    return saved


async def test_what_a_client_wishes_of_the_model_is_no_wish_of_the_tools_deployment():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(calling(("1", "inner", {"query": "Time?"})), saying("It is noon."))
    small = ScriptedModel(saying("Noon"))
    workspace = ModelsWorkspace(CALLER, {"big": big, "small": small})
    parameters = {"max_tokens": 5, "user": "u"}

    await events_in(workspace, await resolve_application("outer"), QUESTION, parameters=parameters)

    assert [dict(asked.parameters) for asked in big.asked] == [{"max_tokens": 5, "user": "u"}] * 2
    assert [dict(asked.parameters) for asked in small.asked] == [{}]


@proves("7.3")
async def test_the_stages_of_the_inner_application_stand_below_the_tool_and_usage_adds_up():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(
        calling(("1", "inner", {"query": "Time?"})), saying("It is noon.", prompt=20, completion=2)
    )
    small = ScriptedModel(
        calling(("9", CLOCK, {"timezone": "nowhere"})), saying("Noon", prompt=7, completion=1)
    )

    events = await answer("outer", big=big, small=small)

    assert events[:9] == [
        StageOpened("1", "Team · inner"),
        StageRenamed("1", " Time?"),
        StageDelta("1", "> #### Request:\n\r**Prompt:** Time?\n\r"),
        StageDelta("1", "> #### Response:\n"),
        StageOpened("1-9", "Current time", "1"),
        *events[5:7],
        StageClosed("1-9", 0.0, failed=True),
        StageDelta("1", "Noon"),
    ]
    assert events[9] == StageClosed("1", 0.0)
    assert events[-3] == TextDelta("It is noon.")
    assert events[-1] == RunFinished(
        "stop", Usage(27, 3, (ModelUsage("small", 7, 1), ModelUsage("big", 20, 2)))
    )


def without_injected(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the messages without injected calls and their results."""
    ours = {call.id for m in messages for call in m.tool_calls if call.id.startswith("synth_")}
    return [
        message
        for message in messages
        if message.tool_call_id not in ours
        and not any(call.id in ours for call in message.tool_calls)
    ]


async def test_the_inner_application_remembers_what_its_tools_brought():
    await make("outer", "big", simple("inner", conversation_mode={"resumable": True}))
    await make("inner", "small")
    big = ScriptedModel(
        calling(("1", "inner", {"query": "Time?"})),
        saying("Noon."),
        calling(("2", "inner", {"query": "And now?", "session_id": "1"})),
        saying("One."),
    )
    small = ScriptedModel(calling(("9", CLOCK, {})), saying("Noon"), saying("One"))

    events = await answer("outer", big=big, small=small)
    reply = ModelMessage("assistant", "Noon.", state=state(events))
    await answer("outer", QUESTION, reply, ModelMessage("user", "And now?"), big=big, small=small)

    seen = to_dicts(without_injected(small.asked[-1].messages))
    assert [message["role"] for message in seen] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert [seen[1]["content"], seen[4]["content"], seen[5]["content"]] == [
        "Time?", "Noon", "And now?",
    ]  # fmt: skip
    assert seen[2]["tool_calls"][0]["function"]["name"] == CLOCK


async def test_an_inner_application_that_fails_is_told_to_the_model_in_words_for_people():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(calling(("1", "inner", {"query": "Time?"})), saying("Sorry."))
    small = ScriptedModel([ModelFailed("secret detail", status=429)])

    events = await answer("outer", big=big, small=small)

    told = big.asked[1].messages[-1].text
    assert told.startswith("inner: The request was rate-limited by the AI model service.")
    assert "secret" not in told + stage_text(events)
    assert TextDelta("Sorry.") in events


async def test_what_an_inner_application_cost_that_failed_is_added_up():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(
        calling(("1", "inner", {"query": "Time?"})), saying("Sorry.", prompt=20, completion=2)
    )
    small = ScriptedModel([text("No"), Usage(7, 1), ModelFailed("cut", reason="stream")])

    events = await answer("outer", big=big, small=small)

    assert events[-1] == RunFinished(
        "stop", Usage(27, 3, (ModelUsage("small", 7, 1), ModelUsage("big", 20, 2)))
    )


async def test_whoever_stops_the_outer_run_stops_the_inner_one_and_its_model():
    await make("outer", "big", simple("middle"))
    await make("middle", "mid", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(calling(("1", "middle", {"query": "Time?"})))
    mid = ScriptedModel(calling(("1", "inner", {"query": "Time?"})))
    small = ScriptedModel([text("Well"), ScriptedModel.never])

    going = asyncio.create_task(answer("outer", big=big, mid=mid, small=small))
    await asyncio.wait_for(small.waiting.wait(), 60)
    going.cancel()
    await asyncio.wait([going], timeout=60)

    assert going.cancelled()
    assert small.closed.is_set()


@proves("7")
async def test_a_circle_is_told_in_the_place_of_the_tool():
    await make("a", "big", simple("b"))
    await make("b", "small", written("a", name="ask_a"))
    big = ScriptedModel(calling(("1", "b", {"query": "Time?"})), saying("Done"))
    small = ScriptedModel(saying("No"))

    events = await answer("a", big=big, small=small)

    assert StageOpened("1-initialization-issues", "Initialization issues", "1") in events
    assert (
        "tool_sets[0].tools[0].deployment: An application can’t call itself: a → b → a."
        in stage_text(events)
    )
    assert CLOCK in {spec.name for spec in small.asked[0].tools}
    assert "ask_a" not in {spec.name for spec in small.asked[0].tools}


async def test_applications_stand_at_most_five_deep():
    for number in range(1, 6):
        await make(f"a{number}", f"m{number}", simple(f"a{number + 1}"))
    await make("a6", "m6")
    models: dict[str, Any] = {
        f"m{number}": ScriptedModel(
            calling(("1", f"a{number + 1}", {"query": "?"})), saying(f"{number}")
        )
        for number in range(1, 5)
    }
    models["m5"] = ScriptedModel(saying("5"))

    events = await answer("a1", **models)

    assert TextDelta("1") in events
    assert "the limit is 5: a1 → a2 → a3 → a4 → a5 → a6." in stage_text(events)
    assert "a6" not in {spec.name for spec in models["m5"].asked[0].tools}


async def test_a_visitor_is_not_told_of_an_application_that_is_not_public():
    await make("outer", "big", simple("inner"), is_public=True)
    await make("inner", "small")
    big = ScriptedModel(saying("Hello"))

    events = await answer("outer", caller=Caller("session-1"), big=big)

    assert "the deployment 'inner' does not exist, or you have no access" in stage_text(events)


async def test_two_calls_of_one_application_at_once_are_told_apart():
    await make("outer", "big", simple("inner"))
    await make("inner", "small")
    big = ScriptedModel(
        calling(("1", "inner", {"query": "One"}), ("2", "inner", {"query": "Two"})), saying("Both")
    )
    small = ScriptedModel(saying("A"), saying("B"))

    events = await answer("outer", big=big, small=small)

    shown = {e.stage_id: e.text for e in events if isinstance(e, StageDelta) and len(e.text) == 1}
    assert sorted(shown) == ["1", "2"]
    assert sorted(shown.values()) == ["A", "B"]
