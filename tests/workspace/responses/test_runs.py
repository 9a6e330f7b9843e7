"""Runs whose model's service speaks the Responses API."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    Reasoning,
    RunFinished,
    StageClosed,
    StageDelta,
    StageOpened,
    StateSaved,
    TextDelta,
)
from apps.agent.messages import ModelMessage
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.local.deployments.found_deployments import make_model, read_row
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace
from tests.fakes import FakeWorkspace, timeless, tool
from tests.runs.test_run import application, with_tools
from tests.workspace.openai.service import Service, answer, service
from tests.workspace.responses.wire import (
    CITED,
    SEARCH,
    call,
    message,
    reasoning,
    streamed,
)

pytestmark = pytest.mark.usefixtures("loopback")

CALLER = Caller("user-7")
QUESTION = ModelMessage("user", "How is Riga?")
WEATHER = tool("weather", lambda arguments: f"{arguments['city']}: 12")
PNG = b"\x89PNG\r\n\x1a\n" + b"." * 7_000_000
"""In base64, it is larger than an event of other APIs may be."""


async def events_of(
    app: ResolvedApplication, running: Service, *messages: ModelMessage, **parameters: Any
) -> list[Event]:
    row = Deployment(
        deployment_id="gpt",
        provider="openai_responses",
        base_url=running.url,
        model_name="gpt-6",
        parameters=parameters,
    )
    found = read_row(row)
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": make_model(found, LocalWorkspace(CALLER).files)}
    workspace.infos = {"gpt": found.info}
    events: list[Event] = []
    await run_application(app, RunRequest(messages), workspace, CALLER, events.append)
    return timeless(events)


def state_in(events: list[Event]) -> Any:
    (saved,) = (event.state for event in events if isinstance(event, StateSaved))
    return saved


def result(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": f"{city}: 12"}


async def test_thoughts_go_back_before_their_calls_in_later_rounds_and_in_later_turns():
    first = [reasoning("Look."), message("I look.", "m1"), call("c1"), call("c2")]
    second = [reasoning("And Oslo.", id="rs_2"), call("c3", arguments='{"city": "Oslo"}')]
    third = [reasoning(id="rs_3"), message("12 in both.", "m3")]
    answers = [streamed(*items) for items in (first, second, third, [message("Bye")])]

    async with service(*answers) as running:
        events = await events_of(with_tools(WEATHER), running, QUESTION, reasoning_effort="low")
        said = "".join(event.text for event in events if isinstance(event, TextDelta))
        answered = ModelMessage("assistant", said, state=state_in(events))
        await events_of(
            with_tools(WEATHER), running, QUESTION, answered, ModelMessage("user", "Thanks")
        )

    bodies = [body for _, body in running.requests]
    asked = {"role": "user", "content": "How is Riga?"}
    plain = [
        message("I look.", "m1"),
        call("c1"),
        call("c2"),
        call("c3", arguments='{"city": "Oslo"}'),
    ]
    for item in plain:
        item.pop("status") if item["type"] == "function_call" else item["content"][0].pop(
            "logprobs"
        )
    round_1 = [reasoning("Look."), *plain[:3], result("c1", "Riga"), result("c2", "Riga")]
    round_2 = [reasoning("And Oslo.", id="rs_2"), plain[3], result("c3", "Oslo")]
    assert bodies[0]["include"] == ["reasoning.encrypted_content"]
    assert bodies[1]["input"] == [asked, *round_1]
    assert bodies[2]["input"] == [asked, *round_1, *round_2]
    *before, last_thought, last_text, thanks = bodies[3]["input"]
    assert before == [asked, *round_1, *round_2]
    assert last_thought == reasoning(id="rs_3")
    assert last_text["content"][0]["text"] == said
    assert thanks == {"role": "user", "content": "Thanks"}
    assert [event.text for event in events if isinstance(event, Reasoning)] == [
        "Look.",
        "And ",
        "Oslo.",
    ]
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert (finished.usage.input, finished.usage.cached, finished.usage.reasoning) == (90, 60, 24)


async def test_a_search_of_the_service_shows_its_stage_and_its_sources():
    items = [SEARCH, message("Rain.", "msg_1", CITED)]

    async with service(streamed(*items)) as running:
        events = await events_of(
            application(), running, QUESTION, tools=[{"type": "web_search"}], temperature=0
        )

    assert running.requests[0][1]["tools"] == [{"type": "web_search"}]
    assert running.requests[0][1]["temperature"] == 0
    assert state_in(events)["untrusted"] == ["a web search"]
    fields = {name: value for name, value in CITED.items() if name != "type"}
    assert events[:-2] == [
        StageOpened("model-1-0", "Web search"),
        StageDelta("model-1-0", "- weather Riga"),
        StageClosed("model-1-0", 0.0),
        TextDelta("Rain."),
        AnnotationAdded({"type": "url_citation", "url_citation": fields}),
    ]


async def test_a_service_that_refuses_the_thoughts_is_asked_without_them():
    state = {
        "model_reasoning": {
            "deployment": "gpt",
            "response_items": json.dumps([reasoning(), {"type": "message", "text_length": 1}]),
        }
    }
    refused = answer("400 Bad Request", b'{"error":{"code":"invalid_encrypted_content"}}')

    async with service(refused, streamed(message("Bye"))) as running:
        answered = ModelMessage("assistant", "a", state=state)
        events = await events_of(application(), running, QUESTION, answered, QUESTION)

    first, second = (body["input"][1:-1] for _, body in running.requests)
    assert first == [reasoning(), {"role": "assistant", "content": "a"}]
    assert second == first[1:]
    assert TextDelta("Bye") in events


@pytest.mark.django_db
async def test_a_picture_is_kept_among_the_callers_files():
    drawn = {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": base64.b64encode(PNG).decode(),
        "output_format": "png",
    }
    line_art = {**drawn, "id": "ig_2", "result": base64.b64encode(b"<svg/>").decode()}

    async with service(streamed(drawn, line_art, message("Here."))) as running:
        events = await events_of(application(), running, QUESTION)

    assert TextDelta("Here.") in events
    (picture,) = (event.attachment for event in events if isinstance(event, AttachmentAdded))
    assert (picture.type, picture.title, picture.data) == ("image/png", "Picture", None)
    assert (await LocalWorkspace(CALLER).files.read(picture.url or "")).content == PNG
