"""Tools that call real services: one that speaks OpenAI's protocol, and an application of DIAL."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller, ClientInfo, Credentials
from apps.agent.events import (
    Event,
    ModelUsage,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
)
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.deployment.capability import deployment
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.failure_handling import ANOTHER_WAY
from apps.runs.workspaces import open_workspace
from tests.capabilities.deployment import dial_application
from tests.capabilities.deployment.scripts import simple, team, use, written
from tests.capabilities.manifests import manifest, timeless
from tests.catalog.rows import make_deployment
from tests.contract import proves
from tests.fakes import encoded
from tests.workspace.openai.service import DONE, HOLD, answer, chunked, event, finish, service, text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

CALLER = Caller(
    "user-7",
    "user",
    user_id=7,
    credentials=Credentials(bearer="of-the-person"),
    client=ClientInfo(headers={"X-Tenant-Id": "acme"}),
)
SCHEMA = {"type": "object", "properties": {"tone": {"type": "string"}}}
STATIC = {"type": "static_function", "static_function": {"name": "search"}}


@pytest.fixture(scope="module")
def counter() -> Iterator[str]:
    with dial_application.serve() as url:
        yield url


async def make(deployment_id: str, url: str, **features: Any) -> None:
    await sync_to_async(make_deployment)(
        deployment_id, provider="openai", base_url=url, api_key="key-1", features=features
    )


async def tool_of(item: dict[str, Any], **rest: Any) -> Tool:
    workspace = open_workspace(CALLER)
    opener = deployment.prepare(manifest(team(item), **rest))
    assert opener is not None
    async with opener(Opening(workspace, CALLER, lambda event: None)) as contribution:
        assert contribution.issues == ()
        return contribution.tools[0]


@proves("7")
async def test_an_application_of_dial_answers_with_all_that_it_has(counter):
    await make("counter", counter, dial=True, configuration_schema=SCHEMA)
    note = await open_workspace(CALLER).files.keep("note.txt", b"Hello", "text/plain")
    item = written(
        "counter",
        parameters={"tools": [STATIC]},
        properties={"tone": {"type": "string"}},
        conversation_mode={"resumable": True},
    )
    events: list[Event] = []

    tool = await tool_of(item)
    result = await use(tool, events.append, query="Count", tone="dry", attachment_urls=[note.path])

    chart = Attachment("image/png", "Chart", url="files/x/chart.png")
    said, suffix = result.content.split("\n\n")
    assert suffix == "[session_id: call-1]"
    assert json.loads(said) == {
        "count": 1,
        "roles": ["user"],
        "attachments": [{"type": "text/plain", "title": "note.txt", "data": "Hello"}],
        "configuration": {"tone": "dry"},
        "tools": [STATIC],
        "headers": [],
    }
    assert result == ToolResult(
        result.content,
        attachments=(chart,),
        propagated=(chart,),
        state={"count": 1},
        usage=(ModelUsage("inner-model", 7, 1),),
    )
    assert timeless(events)[3:] == [
        StageOpened("call-1-0", "Reading", "call-1"),
        StageDelta("call-1-0", "Count"),
        StageOpened("call-1-1", "Stage 2", "call-1-0"),
        StageAttachment("call-1-1", Attachment("text/plain", "Note", data="n")),
        StageClosed("call-1-1", 0.0),
        StageClosed("call-1-0", 0.0),
        StageDelta("call-1", said),
        StageAttachment("call-1", chart),
        StageClosed("call-1", 0.0),
    ]


@proves("7.1")
async def test_an_application_of_dial_is_given_its_state_when_its_conversation_goes_on(counter):
    await make("counter", counter, dial=True)
    tool = await tool_of(simple("counter", conversation_mode={"resumable": True}))

    first = await use(tool, query="One")
    asked = ModelMessage(
        "assistant", tool_calls=(ToolCall("call-1", "counter", encoded({"query": "One"})),)
    )
    answered = ModelMessage(
        "tool",
        first.content,
        tool_call_id="call-1",
        attachments=first.attachments,
        state=first.state,
    )
    second = await tool.call(
        Invocation("call-2", {"query": "Two", "session_id": "call-1"}, (asked, answered))
    )

    assert second.state == {"count": 2}
    assert json.loads(second.content)["roles"] == ["user", "assistant", "user"]


async def test_an_application_of_dial_says_in_its_own_words_why_it_fails(counter):
    await make("counter", counter, dial=True)

    result = await use(await tool_of(simple("counter")), query="fail")

    assert result == ToolResult(f"counter: Ask something else.\n\n{ANOTHER_WAY}")


@proves("7.2")
async def test_a_plain_service_gets_the_question_and_nothing_of_the_caller():
    async with service(chunked(text("Well."), finish(), DONE)) as running:
        await make("plain", running.url)
        item = written("plain", content_propagation={"propagate_headers": ["X-Tenant-Id"]})
        result = await use(await tool_of(item), query="Hi")

    ((headers, body),) = running.requests
    assert result == ToolResult("Well.")
    assert headers["authorization"] == "Bearer key-1"
    assert [name for name in headers if name.startswith("x-t") or name == "api-key"] == []
    assert "of-the-person" not in str(headers)
    assert body == {
        "model": "plain",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_a_plain_service_tells_what_it_spent():
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    async with service(
        chunked(text("Well."), finish(), event(choices=[], usage=usage), DONE)
    ) as on:
        await make("plain", on.url)
        result = await use(await tool_of(simple("plain")), query="Hi")

    assert result.usage == (ModelUsage("plain", 5, 2),)


@proves("7")
async def test_a_service_that_refuses_is_told_by_its_status_alone():
    refused = answer("429 Too Many Requests", b'{"error": {"message": "secret detail"}}')
    async with service(refused) as running:
        await make("plain", running.url)
        result = await use(await tool_of(simple("plain")), query="Hi")

    assert result == ToolResult(f"plain: The model's service returned status 429.\n\n{ANOTHER_WAY}")


@proves("13.3")
async def test_a_service_that_falls_silent_is_given_up():
    async with service([*chunked(text("Well."))[:2], HOLD]) as running:
        await make("plain", running.url)
        tool = await tool_of(simple("plain"), tool_defaults={"timeout_seconds": 1.0})
        result = await use(tool, query="Hi")
        await asyncio.wait_for(running.left.wait(), 60)

    assert result == ToolResult(
        "The tool call `plain` timed out after 1 seconds. "
        "Consider retrying with a smaller input or a simpler request."
    )


async def test_a_service_is_left_within_a_second_of_being_cancelled():
    async with service([*chunked(text("Well."))[:2], HOLD]) as running:
        await make("plain", running.url)
        events: list[Event] = []
        shown = asyncio.Event()

        def emit(event: Event) -> None:
            events.append(event)
            if event == StageDelta("call-1", "Well."):
                shown.set()

        call = asyncio.create_task(use(await tool_of(simple("plain")), emit, query="Hi"))
        await asyncio.wait_for(shown.wait(), 60)
        call.cancel()
        await asyncio.wait_for(running.left.wait(), 60)

    assert timeless(events)[-1] == StageClosed("call-1", 0.0, failed=True)
