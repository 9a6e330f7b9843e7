"""Calls of an agent that follows a script."""

import base64
import json
from uuid import UUID

import pytest

from apps.agent.events import Event, StageAttachment, StageClosed, StageDelta, StageOpened
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.a2a_agents import calls
from apps.errors import InvalidParameter, ToolError, ToolTimedOut
from tests.capabilities.a2a_agents.agents import (
    WORKING,
    files,
    scripted,
    status,
    task,
    text,
    tool_of,
)
from tests.capabilities.manifests import OTHERWISE, Files, stage_text, timeless, use
from tests.capabilities.service import Reply, json_reply
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
END = "\n\n[session_id: call-1]"


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_the_stream_is_shown_as_it_comes_and_its_text_is_the_result(binding):
    events: list[Event] = []
    operation = {"JSONRPC": "SendStreamingMessage", "HTTP+JSON": "POST /message:stream"}[binding]
    async with scripted(binding=binding) as agent:
        agent.replies[operation] = [
            agent.streams(
                WORKING,
                status("WORKING", "Looking\nfor trains"),
                text("Take the "),
                text("train.", append=True),
                text("Bring a coat.", id="b"),
                status("COMPLETED"),
            )
        ]
        async with tool_of(agent.url) as tool:
            result = await use(tool, events.append, query="To Riga?")

    assert result == ToolResult(
        f"Take the train.\n\nBring a coat.{END}", state={"a2a": {"context": "c1"}}
    )
    assert timeless(events) == [
        StageOpened("call-1", "travel To Riga?", tool="travel"),
        StageDelta("call-1", "> #### Request:\n\r**Prompt:** To Riga?\n\r"),
        StageDelta("call-1", "> #### Response:\n"),
        StageDelta("call-1", "Looking for trains\n\n"),
        StageDelta("call-1", "Take the "),
        StageDelta("call-1", "train."),
        StageDelta("call-1", "\n\n"),
        StageDelta("call-1", "Bring a coat."),
        StageClosed("call-1", 0.0),
    ]
    [(asked, params)] = agent.asked
    message = params["message"]
    assert asked == operation
    id = message.pop("messageId")
    assert str(UUID(id)) == id
    assert message == {
        "role": "ROLE_USER",
        "parts": [{"text": "To Riga?", "mediaType": "text/plain"}],
    }
    assert agent.heads[-1].headers["a2a-version"] == "1.0"


async def test_files_go_to_the_agent_and_come_back_as_attachments():
    kept = Files()
    data = base64.b64encode(PIXEL).decode()
    events: list[Event] = []
    async with scripted() as agent:
        agent.replies["SendStreamingMessage"] = [
            agent.streams(
                WORKING,
                files(
                    {"raw": data, "mediaType": "image/png", "filename": "map of riga.png"},
                    {"url": f"{agent.url}/file.csv", "mediaType": "text/csv"},
                    {"url": "https://elsewhere.example.com/a.pdf", "mediaType": "application/pdf"},
                    {"url": "javascript:alert(1)", "mediaType": "text/html"},
                    {"raw": "*", "mediaType": "text/plain"},
                ),
                status("COMPLETED"),
            )
        ]
        agent.card["defaultInputModes"] = ["image/*"]
        async with tool_of(agent.url, files=kept) as tool:
            url = f"data:image/png;base64,{data}"
            agent.replies["/travel/file.csv"] = [Reply(200, b"a,b", {"Content-Type": "text/csv"})]
            result = await use(tool, events.append, query="Look", attachment_urls=[url])

    [part] = agent.asked[0][1]["message"]["parts"][1:]
    assert (part["raw"], part["mediaType"]) == (data, "image/png")
    titles = [one.title for one in result.attachments]
    assert titles == ["map_of_riga.png", "file.csv", "a.pdf"]
    assert result.attachments[2] == Attachment(
        "application/pdf",
        "a.pdf",
        url="https://elsewhere.example.com/a.pdf",
        reference_url="https://elsewhere.example.com/a.pdf",
    )
    assert result.propagated == result.attachments[:1]
    assert [e.attachment.title for e in events if isinstance(e, StageAttachment)] == titles
    assert [content for content, _ in kept.kept.values()] == [PIXEL, b"a,b"]
    assert "'javascript:alert(1)' is not a URL." in result.content
    assert "An attachment could not be read: its data is not base64." in result.content


async def test_the_model_answers_what_the_agent_asks_and_continues_the_conversation_after_that():
    async with scripted() as agent:
        agent.replies["SendStreamingMessage"] = [
            agent.streams(WORKING, status("INPUT_REQUIRED", "When?")),
            agent.streams(WORKING, text("Booked."), status("COMPLETED")),
            agent.streams(WORKING, text("Canceled."), status("COMPLETED")),
        ]
        async with tool_of(agent.url) as tool:
            first = await tool.call(Invocation("call-1", {"query": "To Riga"}))
            talk = said("call-1", {"query": "To Riga"}, first)
            second = await tool.call(Invocation("call-2", answered("Today"), talk))
            talk += said("call-2", answered("Today"), second)
            third = await tool.call(Invocation("call-3", answered("Cancel it"), talk))
            with pytest.raises(InvalidParameter) as unknown:
                await tool.call(Invocation("call-4", {"query": "Hi", "session_id": "x"}, talk))

    assert first.content == (
        "When?\n\nThe agent needs more information before it can continue. Answer it from what you "
        "know, or ask the user; then call this tool again with the answer and this session_id."
        f"{END}"
    )
    assert (second.content, third.content) == ("Booked.", "Canceled.")
    assert str(unknown.value) == (
        "Parameter session_id is invalid: no earlier answer ends with this ID. Omit the parameter "
        "to begin a new conversation."
    )
    sent = [params["message"] for _, params in agent.asked]
    assert [(one.get("contextId"), one.get("taskId")) for one in sent] == [
        (None, None),
        ("c1", "t1"),
        ("c1", None),
    ]


def answered(text: str) -> dict[str, str]:
    return {"query": text, "session_id": "call-1"}


def said(id: str, arguments: dict[str, str], result: ToolResult) -> tuple[ModelMessage, ...]:
    """A call of the tool and its result, as a conversation has them."""
    call = ToolCall(id, "travel", json.dumps(arguments))
    answer = ModelMessage("tool", result.content, tool_call_id=id, state=result.state)
    return ModelMessage("assistant", tool_calls=(call,)), answer


async def test_an_agent_that_needs_an_authorization_says_so_to_the_model():
    async with scripted() as agent:
        agent.replies["SendStreamingMessage"] = [
            agent.streams(WORKING, status("AUTH_REQUIRED", "Sign in at https://id.example.com"))
        ]
        async with tool_of(agent.url) as tool:
            result = await use(tool, query="Hi")

    assert result.failure is None
    assert result.content == (
        "Sign in at https://id.example.com\n\nThe agent needs an authorization before it can "
        "continue, as it says above. Tell the user what to do; once that is done, call this tool "
        f"again with this session_id.{END}"
    )


async def test_an_agent_may_answer_with_a_message_alone():
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "A"}, {"data": {"b": 1}}]}
    async with scripted() as agent:
        agent.replies["SendStreamingMessage"] = [agent.streams({"message": message})]
        async with tool_of(agent.url) as tool:
            result = await use(tool, query="Hi")

    assert result == ToolResult('A\n```json\n{\n  "b": 1\n}\n```')


async def test_an_agent_without_streams_is_asked_for_its_task(monkeypatch):
    monkeypatch.setattr(calls, "POLL_SECONDS", (0.0,))
    async with scripted() as agent:
        agent.card["capabilities"] = {}
        agent.replies["SendMessage"] = [agent.returns({"task": task("WORKING")})]
        whole = task("COMPLETED", [{"artifactId": "a", "parts": [{"text": "Done."}]}])
        agent.replies["GetTask"] = [agent.returns(task("WORKING")), agent.returns(whole)]
        events: list[Event] = []
        async with tool_of(agent.url) as tool:
            result = await use(tool, events.append, query="Hi")

    assert result.content == f"Done.{END}"
    assert stage_text(events).endswith("#### Response:\nDone.")
    assert [operation for operation, _ in agent.asked] == ["SendMessage", "GetTask", "GetTask"]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_the_rest_of_a_stream_that_breaks_off_is_read_from_the_task(binding):
    send, get = {
        "JSONRPC": ("SendStreamingMessage", "GetTask"),
        "HTTP+JSON": ("POST /message:stream", "GET /tasks/t1"),
    }[binding]
    async with scripted(binding=binding) as agent:
        stream = agent.streams(WORKING, text("Hello"))
        broken = {**stream.headers, "Content-Length": str(len(stream.body) + 1)}
        agent.replies[send] = [Reply(200, stream.body, broken)]
        whole = task("COMPLETED", [{"artifactId": "a", "parts": [{"text": "Hello world"}]}])
        agent.replies[get] = [agent.returns(whole)]
        events: list[Event] = []
        async with tool_of(agent.url) as tool:
            result = await use(tool, events.append, query="Hi")

    assert result.content == f"Hello world{END}"
    assert stage_text(events).endswith("#### Response:\nHello world")


@each_row(
    ("state", "problem"),
    [
        ("FAILED", "the agent's task failed: No trains."),
        ("REJECTED", "the agent rejected the task: No trains."),
        ("CANCELED", "the agent canceled the task: No trains."),
    ],
)
async def test_a_task_that_does_not_complete_is_an_error(state, problem):
    async with scripted() as agent:
        agent.replies["SendStreamingMessage"] = [
            agent.streams(WORKING, status(state, "No trains."))
        ]
        async with tool_of(agent.url) as tool:
            result = await use(tool, query="Hi")

    assert result.content == f"travel ({agent.service.url[7:]}): {problem}{OTHERWISE}"


SEND = "SendStreamingMessage"
RPC_ERROR = '{"jsonrpc":"2.0","id":"1","error":{"code":-32004,"message":"No\\nstreams"}}'


@each_row(
    ("reply", "problem"),
    [
        (
            Reply(401),
            "the server returned 401 Unauthorized. Check the credentials in "
            "`authorization` of the toolset.",
        ),
        (Reply(429, headers={"Retry-After": "7"}), "the server returned 429 Too Many Requests."),
        (
            Reply(307, headers={"Location": "https://a.b/"}),
            "the server returned 307 Temporary "
            "Redirect and redirects to another URL, which is not followed.",
        ),
        (
            json_reply('{"error":{"code":400,"message":"Bad part"}}', 400),
            "the server returned 400 Bad Request: Bad part",
        ),
        (json_reply("[1]", 500), "the server returned 500 Internal Server Error."),
        (json_reply(RPC_ERROR), "the agent rejected the request: No streams"),
        (json_reply("{"), "its response is not JSON."),
        (json_reply('{"a":' + "[" * 100_000), "its response is not JSON."),
        (json_reply("{}"), "its response has neither a result nor an error."),
        (
            json_reply('{"result":{"task":{"id":1}}}'),
            "its response does not follow A2A: Expected `str`, got `int` - at `$.task.id`.",
        ),
        (
            json_reply('{"result":{"task":{"id":"a","status":{"state":"DONE"}}}}'),
            "its task has the unknown state 'DONE'.",
        ),
        (
            Reply(200, b"", {"Content-Type": "text/event-stream"}),
            "the stream ended before the agent answered.",
        ),
        (
            Reply(200, b"data: <html>\n\n", {"Content-Type": "text/event-stream"}),
            "its response is not JSON.",
        ),
        (
            Reply(200, b"x", {"Content-Length": "99000000"}),
            "the response is too large; the limit is 33554432 bytes. Request less data at once.",
        ),
        (
            Reply(200, b"x", {"Content-Length": "9"}),
            "the service disconnected before the end of its response.",
        ),
    ],
)
async def test_an_odd_server_gets_an_error_that_names_it(reply, problem):
    async with scripted() as agent:
        agent.replies[SEND] = [reply]
        async with tool_of(agent.url) as tool:
            result = await use(tool, query="Hi")

    assert result.content == f"travel ({agent.service.url[7:]}): {problem}{OTHERWISE}"


async def test_an_agent_that_is_silent_times_out():
    rest = {"tool_defaults": {"timeout_seconds": 3}}  # in which its card must arrive
    async with scripted(is_silent=True) as agent, tool_of(agent.url, manifest=rest) as tool:
        result = await use(tool, query="Hi")

    assert isinstance(result.failure, ToolTimedOut)
    assert result.content.startswith(
        f"The tool call `travel ({agent.service.url[7:]})` timed out after 3 seconds."
    )


async def test_the_agent_says_when_it_may_be_asked_again():
    async with scripted() as agent:
        agent.replies[SEND] = [Reply(429, headers={"Retry-After": "7"})]
        async with tool_of(agent.url) as tool:
            result = await use(tool, query="Hi")

    assert isinstance(result.failure, ToolError)
    assert (result.failure.retry_after, result.failure.is_lasting) == (7.0, False)


async def test_a_credential_that_the_agent_repeats_is_hidden():
    how = {"type": "bearer", "token": "s3cret-token"}
    async with scripted() as agent:
        agent.replies[SEND] = [
            agent.streams(WORKING, text("You sent s3cret-token."), status("COMPLETED"))
        ]
        async with tool_of(agent.url, authorization=how) as tool:
            result = await use(tool, query="Hi")

    assert result.content == f"You sent [hidden].{END}"
    assert [one.headers["authorization"] for one in agent.heads] == ["Bearer s3cret-token"] * 2
