"""Calls of an agent whose Responses API follows a script."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.tools import Invocation, Tool
from apps.capabilities.responses_agents.capability import responses_agents
from apps.errors import ModelFailed, ToolError
from tests.capabilities.manifests import OTHERWISE, manifest, opened, timeless, use
from tests.tables import each_row
from tests.workspace.openai.service import CLOSE, HOLD, answer, chunked, service
from tests.workspace.responses.wire import encoded, message, stream, streamed

pytestmark = pytest.mark.usefixtures("loopback")

END = "\n\n[session_id: call-1]"
BEGUN = stream(message("Hello")).partition(b"event: response.output_text.done")[0]
BEARER = {"type": "bearer", "token": "s3cret-token"}


@asynccontextmanager
async def tool_of(url: str, **fields: Any) -> AsyncIterator[Tool]:
    toolset = {"type": "responses-agent", "name": "travel", "base_url": url, "model": "m", **fields}
    async with opened(responses_agents, manifest(toolset)) as contribution:
        assert contribution.issues == ()
        [tool] = contribution.tools
        yield tool


async def test_the_answer_is_shown_as_it_comes_and_is_the_result():
    events: list[Event] = []
    async with (
        service(streamed(message("Take the train"))) as running,
        tool_of(running.url, authorization=BEARER) as tool,
    ):
        result = await use(tool, events.append, query="To Riga?")

    assert (result.content, result.failure) == (f"Take the train{END}", None)
    assert [one.model for one in result.usage] == [f"{running.url[7:-3]}/m"]
    assert timeless(events) == [
        StageOpened("call-1", "travel To Riga?", tool="travel"),
        StageDelta("call-1", "> #### Request:\n\r**Prompt:** To Riga?\n\r"),
        StageDelta("call-1", "> #### Response:\n"),
        StageDelta("call-1", "Take "),
        StageDelta("call-1", "the "),
        StageDelta("call-1", "train"),
        StageClosed("call-1", 0.0),
    ]
    [(headers, body)] = running.requests
    assert headers["authorization"] == "Bearer s3cret-token"
    assert body == {
        "model": "m",
        "store": False,
        "stream": True,
        "input": [{"role": "user", "content": "To Riga?"}],
    }


async def test_files_are_sent_as_content():
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    urls = [f"data:image/png;base64,{data}", "data:text/plain,Hello"]
    async with service(streamed(message("Seen"))) as running, tool_of(running.url) as tool:
        await use(tool, query="Look", attachment_urls=urls)

    [item] = running.requests[0][1]["input"]
    text, picture, file = item["content"]
    assert text == {"type": "input_text", "text": "Look"}
    assert picture == {"type": "input_image", "image_url": urls[0], "detail": "auto"}
    assert file["filename"].endswith(".txt")
    assert file["file_data"] == "data:text/plain;base64," + base64.b64encode(b"Hello").decode()


async def test_a_conversation_is_continued():
    async with (
        service(streamed(message("One")), streamed(message("Two"))) as running,
        tool_of(running.url) as tool,
    ):
        first = await tool.call(Invocation("call-1", {"query": "A"}))
        call = ToolCall("call-1", "travel", json.dumps({"query": "A"}))
        talk = (
            ModelMessage("assistant", tool_calls=(call,)),
            ModelMessage("tool", first.content, tool_call_id="call-1", state=first.state),
        )
        asked = {"query": "B", "session_id": "call-1"}
        second = await tool.call(Invocation("call-2", asked, talk))

    assert (first.content, second.content) == (f"One{END}", "Two")
    contents = [one["content"] for one in running.requests[1][1]["input"]]
    assert contents[0] == "A"
    assert contents[2] == "B"


async def test_a_call_that_is_canceled_ends_the_connection():
    begun = asyncio.Event()

    def emit(event: Event) -> None:
        if isinstance(event, StageDelta) and event.text == "Hello":
            begun.set()

    async with service([*chunked(BEGUN)[:-1], HOLD]) as running, tool_of(running.url) as tool:
        async with asyncio.timeout(60):
            asking = asyncio.create_task(use(tool, emit, query="Hi"))
            await begun.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await running.left.wait()


FAILED = encoded({"type": "error", "code": "server_error", "message": "Overworked"})


@each_row(
    ("reply", "problem"),
    [
        (
            answer("401 Unauthorized", b"{}"),
            "returned status 401. Check the credentials in `authorization` of the toolset.",
        ),
        (
            answer("429 Too Many Requests", b'{"error": {"message": "Slow down"}}'),
            "returned status 429.",
        ),
        (answer("500 Internal Server Error", b"<html>"), "returned status 500."),
        (answer("200 OK", b"{"), "sent an unreadable response."),
        (answer("200 OK", b'{"output": 7}'), "did not complete its response."),
        (answer("200 OK", b"<html>", "text/html"), "sent a web page. Check its URL."),
        (chunked(b"data: {]\n\n"), "sent an unreadable response."),
        (chunked(FAILED), "aborted its response with an error."),
        ([*chunked(BEGUN)[:-1], CLOSE], "disconnected before the end of its response."),
    ],
)
async def test_an_odd_server_gets_an_error_that_names_it(reply, problem):
    async with service(reply) as running, tool_of(running.url) as tool:
        result = await use(tool, query="Hi")

    assert isinstance(result.failure, ToolError)
    host = running.url[7:-3]
    assert result.content == f"travel ({host}): The model's service {problem}{OTHERWISE}"


async def test_a_credential_that_the_server_repeats_in_an_error_is_hidden():
    how = {"type": "api_key", "name": "X-Travel", "key": "s3cret-token", "location": "header"}
    reply = answer("400 Bad Request", b'{"error": {"message": "Unknown key s3cret-token"}}')
    async with service(reply) as running, tool_of(running.url, authorization=how) as tool:
        result = await use(tool, query="Hi")

    assert result.failure is not None
    cause = result.failure.__cause__
    assert isinstance(cause, ModelFailed)
    assert cause.said == "Unknown key …"


async def test_the_server_says_when_it_may_be_asked_again():
    head = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n"
    async with service([head]) as running, tool_of(running.url) as tool:
        result = await use(tool, query="Hi")

    assert isinstance(result.failure, ToolError)
    assert (result.failure.retry_after, result.failure.is_lasting) == (7.0, False)
