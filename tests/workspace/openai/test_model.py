from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import openai
import pytest
from httpx2 import LocalProtocolError

from apps.agent.events import RefusalDelta, TextDelta, Usage
from apps.agent.messages import Attachment, ModelMessage, Thoughts, ToolCall
from apps.agent.model import Delta, Finish, Model, ModelRequest, ReasoningDelta, ToolCallDelta
from apps.agent.tools import ToolSpec
from apps.errors import BadRequest, ModelFailed
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import make_sdk_client
from apps.workspace.egress.transport import StreamTransport
from apps.workspace.openai.model import encode_openai, make_openai_model, make_service
from apps.workspace.services import client
from apps.workspace.services.client import find_client
from apps.workspace.services.model import ServiceModel
from tests.contract import proves
from tests.servers.closing import close_server
from tests.workspace.openai.service import (
    CHUNKED,
    CLOSE,
    DONE,
    HOLD,
    Service,
    answer,
    chunked,
    event,
    finish,
    frame,
    service,
    text,
)

pytestmark = pytest.mark.usefixtures("loopback")

QUESTION = ModelRequest((ModelMessage("user", "Hi"),))


def model_of(running: Service, **options: Any) -> ServiceModel[client.ModelService]:
    options = {"api_key": "key-1", "model": "m", "idle_seconds": 5.0, **options}
    return make_openai_model(base_url=running.url, **options)


async def ask(model: Model, request: ModelRequest = QUESTION) -> list[Delta]:
    async with asyncio.timeout(60):
        return [delta async for batch in model.stream(request) for delta in batch]


def words(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def failure_of(*pieces: Any, **options: Any) -> ModelFailed:
    async with service(list(pieces)) as running:
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(running, **options))
    return caught.value


@proves("T-52")
async def test_the_answer_arrives_with_its_usage():
    usage = event(choices=[], usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5})

    async with service(chunked(text("Hel"), text("lo"), finish(), usage, DONE)) as running:
        deltas = await ask(model_of(running))

    assert words(deltas) == "Hello"
    assert deltas[-2:] == [Finish("stop"), Usage(3, 2)]


@proves("G-10", "T-52")
async def test_the_request_is_what_the_service_expects():
    spec = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
    call = ToolCall("c1", "look", "{}")
    messages = (
        ModelMessage("user", "Hi", attachments=(Attachment(url="files/a"),)),
        ModelMessage("assistant", "", tool_calls=(call,)),
        ModelMessage("tool", "seen", tool_call_id="c1", state={"kept": 1}),
    )
    request = ModelRequest(messages, [spec], {"temperature": 0.5}, [{"type": "web_search"}])

    async with service(chunked(finish(), DONE)) as running:
        await ask(model_of(running), request)

    headers, body = running.requests[0]
    assert headers["target"] == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer key-1"
    assert headers["host"] == f"127.0.0.1:{running.port}"
    assert headers["accept-encoding"] == "identity"
    assert body == {
        "temperature": 0.5,
        "model": "m",
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "look", "arguments": "{}"},
                    }
                ],
            },
            {"role": "tool", "content": "seen", "tool_call_id": "c1"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Looks.",
                    "parameters": {"type": "object", "properties": {}},
                },
            },
            {"type": "web_search"},
        ],
    }


async def test_dial_is_sent_what_is_its_own():
    message = ModelMessage("user", "Hi", attachments=(Attachment(url="files/a"),))

    async with service(chunked(finish(), DONE)) as running:
        await ask(model_of(running, dial=True), ModelRequest((message,)))

    assert running.requests[0][1]["messages"][0]["custom_content"] == {
        "attachments": [{"type": "text/markdown", "url": "files/a"}]
    }


async def test_a_version_in_the_address_is_kept_for_every_question():
    async with service(chunked(finish(), DONE), chunked(finish(), DONE)) as running:
        model = make_openai_model(base_url=f"{running.url}?api-version=2", api_key="k", model="m")
        await ask(model)
        await ask(model)

    assert [headers["target"] for headers, _ in running.requests] == [
        "/v1/chat/completions?api-version=2"
    ] * 2


async def test_answers_one_after_another_use_one_connection():
    answers = [chunked(text("a"), finish(), DONE) for _ in range(5)]

    async with service(*answers) as running:
        said = [words(await ask(model_of(running))) for _ in range(5)]

    assert said == ["a"] * 5
    assert running.connections == 1


async def test_keys_do_not_share_a_connection():
    async with service(chunked(finish(), DONE), chunked(finish(), DONE)) as running:
        await ask(model_of(running, api_key="one"))
        await ask(model_of(running, api_key="two"))

    assert running.connections == 2
    assert [h["authorization"] for h, _ in running.requests] == ["Bearer one", "Bearer two"]


async def test_a_kept_connection_that_the_service_closed_is_replaced():
    async with service([*chunked(finish(), DONE), CLOSE], chunked(text("b"), DONE)) as running:
        await ask(model_of(running))
        await running.closed()
        deltas = await ask(model_of(running))

    assert words(deltas) == "b"
    assert running.connections == 2


async def test_a_question_is_not_asked_again_when_a_kept_connection_dies_in_silence():
    async with service(chunked(finish(), DONE), [CLOSE], chunked(text("b"), DONE)) as running:
        await ask(model_of(running))
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(running))

    assert (caught.value.reason, caught.value.is_transient) == ("connection", True)
    assert len(running.requests) == 2


async def test_a_question_is_not_asked_again_on_a_new_connection():
    failure = await failure_of(CLOSE)

    assert failure.reason == "connection"


async def test_a_question_is_not_asked_again_when_an_answer_had_begun():
    async with service(chunked(finish(), DONE), [b"HTTP/1.1 200", CLOSE]) as running:
        await ask(model_of(running))
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(running))

    assert caught.value.reason == "connection"
    assert len(running.requests) == 2


async def test_interim_answers_are_skipped():
    interim = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"

    async with service([interim, *chunked(text("a"), DONE)]) as running:
        assert words(await ask(model_of(running))) == "a"


async def test_an_error_in_mid_stream_is_told_after_what_came_before_it():
    error = event(
        error={"message": "m", "code": "429", "type": "rate", "display_message": "Slow down."}
    )
    said: list[str] = []

    async with service(chunked(text("a") + error)) as running:
        with pytest.raises(ModelFailed) as caught:
            async for batch in model_of(running).stream(QUESTION):
                said.append(words(list(batch)))

    assert said == ["a"]
    failure = caught.value
    assert (failure.reason, failure.status, failure.code, failure.kind, failure.display) == (
        "stream",
        429,
        "429",
        "rate",
        "Slow down.",
    )


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            "401 Unauthorized",
            b'{"error":{"message":"no key-1","code":"bad"}}',
            (401, "bad", "", ""),
        ),
        (
            "400 Bad Request",
            b'{"error":{"code":"content_filter","type":"t","display_message":"d"}}',
            (400, "content_filter", "t", "d"),
        ),
        ("502 Bad Gateway", b"<html>", (502, "", "", "")),
        ("500 Oops", b"[1]", (500, "", "", "")),
        ("307 Temporary Redirect", b"", (307, "", "", "")),
    ],
)
async def test_a_status_that_refuses_is_a_failure_without_the_text_of_the_service(
    status, body, expected
):
    failure = await failure_of(*answer(status, body))

    assert (failure.status, failure.code, failure.kind, failure.display) == expected
    assert failure.reason == "status"
    assert "key-1" not in str(failure)


async def test_a_refusal_without_end_is_not_read_to_its_end():
    flood = [frame(b"x" * 65536)] * 64
    head = b"HTTP/1.1 500 Oops\r\ntransfer-encoding: chunked\r\n\r\n"

    failure = await failure_of(head, *flood, HOLD)

    assert failure.status == 500


async def test_a_packed_answer_is_refused():
    body = gzip.compress(text("a"))
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)

    failure = await failure_of(head + body)

    assert (str(failure), failure.reason) == (
        "The model's service sent a compressed response that was not requested.",
        "unreadable",
    )


async def test_a_packed_refusal_keeps_its_status():
    body = gzip.compress(b"0" * 1_000_000)
    head = b"HTTP/1.1 429 No\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)

    assert (await failure_of(head + body)).status == 429


async def test_an_answer_in_one_piece_is_read_at_once():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "d"}]}
    whole = {
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }

    async with service(answer("200 OK", json.dumps(whole).encode())) as running:
        deltas = await ask(model_of(running))

    assert deltas == [
        Usage(1, 2),
        ToolCallDelta(0, "c", "f", "{}"),
        ToolCallDelta(1, "d", "f", "{}"),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize("body", [b"{", b'{"choices":[]}', b'{"choices":[{}]}', b"null"])
async def test_an_answer_in_one_piece_that_is_no_answer_is_a_failure(body):
    assert (await failure_of(*answer("200 OK", body))).reason == "unreadable"


async def test_a_service_that_does_not_listen_is_a_failure():
    async with service() as running:
        pass

    with pytest.raises(ModelFailed) as caught:
        await ask(model_of(running))

    assert (caught.value.reason, caught.value.status) == ("connection", None)


async def test_an_address_on_a_private_network_is_refused_by_name(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = []

    async with service() as running:
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(running))

    assert "PRIVATE_NETWORK_ALLOWLIST" in str(caught.value)
    assert running.connections == 0


async def test_a_key_with_a_line_break_never_leaves():
    async with service() as running:
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(running, api_key="k\r\nHost: elsewhere"))

    assert caught.value.reason == "connection"
    assert running.requests == []


async def test_a_cancelled_question_leaves_no_connection():
    async with service([HOLD]) as running:
        task = asyncio.ensure_future(ask(model_of(running)))
        async with asyncio.timeout(60):
            while not running.requests:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await running.left.wait()


async def test_a_slow_listener_slows_the_service_down():
    piece = frame(text("x" * 60_000))
    sent = 0

    @asynccontextmanager
    async def torrent() -> AsyncIterator[int]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal sent
            await reader.readuntil(b"\r\n\r\n")
            writer.write(CHUNKED)
            try:
                for _ in range(1000):
                    writer.write(piece)
                    await writer.drain()
                    sent += len(piece)
            except ConnectionError:
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        yield server.sockets[0].getsockname()[1]
        await close_server(server)

    async with torrent() as port, asyncio.timeout(60):
        model = make_openai_model(base_url=f"http://127.0.0.1:{port}/v1", api_key="k", model="m")
        async with aclosing(model.stream(QUESTION)) as batches:
            await anext(batches)
            before = -1
            while before != sent:  # until the sender has to wait
                before = sent
                for _ in range(200):
                    await asyncio.sleep(0.001)
            held_at = sent
            await anext(batches)

    assert held_at < 30_000_000


THOUGHTS = {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}
DETAILS = {
    "prompt_tokens": 3,
    "completion_tokens": 2,
    "prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": 0},
    "completion_tokens_details": None,
}


@proves("T-53")
async def test_thoughts_refusals_and_details_of_the_usage_are_read_from_a_stream():
    thought = event(choices=[{"index": 0, "delta": {"content": "", **THOUGHTS}}])
    refused = event(choices=[{"index": 0, "delta": {"refusal": "No."}}], usage=DETAILS)

    async with service(chunked(thought, refused, finish(), DONE)) as running:
        deltas = await ask(model_of(running))

    assert deltas == [
        ReasoningDelta("Hm.", "reasoning"),
        Usage(3, 2, cached=1),
        RefusalDelta("No."),
        Finish("stop"),
    ]


async def test_thoughts_refusals_and_details_of_the_usage_are_read_from_an_answer_in_one_piece():
    message = {"role": "assistant", "content": None, "refusal": "No.", **THOUGHTS}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}

    body = json.dumps({"choices": [choice], "usage": DETAILS}).encode()
    async with service(answer("200 OK", body)) as running:
        deltas = await ask(model_of(running))

    assert deltas == [
        Usage(3, 2, cached=1),
        ReasoningDelta("Hm.", "reasoning"),
        RefusalDelta("No."),
        Finish("stop"),
    ]


def lines(written: bytes) -> tuple[bytes, set[bytes], bytes]:
    """Return the request line, the headers with lower-case names, and the body."""
    head, _, body = written.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    named = {
        b"%b:%b" % (key.lower(), value) for key, _, value in (h.partition(b":") for h in headers)
    }
    assert len(named) == len(headers)
    return first, named, body


@pytest.mark.parametrize(
    ("query", "key", "headers"),
    [
        ("", "key", ()),
        ("/?api-version=1&b=2", "key", ()),
        ("", "", (("Api-Key", "key"), ("X-Team", "a"))),
    ],
)
async def test_the_short_way_sends_what_the_sdk_would_have_sent(query, key, headers, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    whole = answer("200 OK", b"{}")

    async with service(whole, whole) as running:
        own = make_service(running.url + query, key, headers=dict(headers))
        short = await own.ask(b'{"stream":true}', 5.0)
        await short.body.end()
        await ask_by_sdk(running.url, dict(parse_qsl(query.partition("?")[2])), key, dict(headers))

    (ours, content), (theirs, same) = running.requests
    marks = {name: value for name, value in theirs.items() if name.startswith("x-stainless-")}
    assert ours | marks | AGENT == theirs | AGENT
    assert content == same


AGENT = {"user-agent": "QuickApps"}


async def ask_by_sdk(url: str, query: dict[str, str], key: str, headers: dict[str, str]) -> None:
    """Call the SDK. Without a key, it is configured to omit its header."""
    left_out = {} if key else {"Authorization": openai.Omit()}
    transport = StreamTransport(Trust.OPERATOR)
    async with make_sdk_client(transport, {"Accept-Encoding": "identity"}) as http_client:
        client = openai.AsyncOpenAI(
            base_url=url,
            api_key=key or "none",
            default_query=query,
            http_client=http_client,
            max_retries=0,
        )
        await client.post(
            "/chat/completions",
            cast_to=object,
            content=b'{"stream":true}',
            options={"headers": {"Accept": "text/event-stream", **headers, **left_out}},
        )


async def test_headers_of_the_trace_are_added_to_those_of_the_service():
    endpoint = client.ModelService("http://127.0.0.1:1/v1", "chat").endpoint()

    first, plain, _ = lines(endpoint.request("POST", "", {}, b"{}"))
    traced = lines(endpoint.request("POST", "", {"traceparent": "00-1-2-01"}, b"{}"))

    assert traced == (first, plain | {b"traceparent: 00-1-2-01"}, b"{}")
    with pytest.raises(LocalProtocolError):
        endpoint.request("POST", "", {"tracestate": "a=1\r\nApi-Key: b"}, b"{}")


async def test_a_service_and_a_key_have_one_client():
    one = find_client(make_service("https://api.example.com/v1", "a"))

    assert find_client(make_service("https://api.example.com/v1", "a")) is one
    assert find_client(make_service("https://api.example.com/v1", "b")) is not one


def test_a_service_does_not_show_its_key():
    service = make_service("https://api.example.com/v1", "secret", headers={"Api-Key": "secret"})

    assert "secret" not in repr(service)


async def test_of_clients_of_many_keys_those_used_last_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "MOST_CLIENTS", 2)
    services = [make_service("https://api.example.com/v1", key) for key in "abc"]
    first, second = find_client(services[0]), find_client(services[1])
    assert find_client(services[0]) is first
    find_client(services[2])

    assert find_client(services[0]) is first
    assert find_client(services[1]) is not second


MESSAGES = (ModelMessage("user", "Hi"),)


def written(**fields: Any) -> dict[str, Any]:
    body = msgspec.json.decode(encode_openai(ModelRequest(MESSAGES, **fields), "m", dial=False))
    assert isinstance(body, dict)
    return body


def test_parameters_do_not_replace_what_is_ours():
    body = written(parameters={"model": "x", "messages": [], "stream": False, "top_p": 1})

    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "top_p": 1,
    }


def test_stream_options_are_added_to_or_left_out():
    assert written(parameters={"stream_options": {"a": 1}})["stream_options"] == {
        "include_usage": True,
        "a": 1,
    }
    assert "stream_options" not in written(parameters={"stream_options": None})


def test_frozen_mappings_are_written_as_objects():
    frozen = MappingProxyType({"type": "function", "function": MappingProxyType({"name": "f"})})

    assert written(static_tools=(frozen,))["tools"] == [
        {"type": "function", "function": {"name": "f"}}
    ]


@proves("T-54")
def test_dials_model_is_told_up_to_where_its_cache_keeps_the_request():
    call = ToolCall("c", "look", "{}")
    messages = (
        ModelMessage("system", "Be kind."),
        *MESSAGES,
        ModelMessage("assistant", "", tool_calls=(call,)),
        ModelMessage("tool", "seen", tool_call_id="c"),
        ModelMessage("tool", "seen", tool_call_id="d"),
    )
    tools = [ToolSpec("look", "", {}), ToolSpec("rest", "", {})]

    def marks(count: int, *, dial: bool = True, marks_cache: bool = True) -> list[str]:
        request = ModelRequest(messages[:count], tools, marks_cache=marks_cache)
        body = msgspec.json.decode(encode_openai(request, "m", dial=dial))
        entries = [*body["messages"], *body["tools"]]
        names = [*(one["role"] for one in body["messages"]), "look", "rest"]
        mark: dict[str, Any] = {"cache_breakpoint": {}}
        return [
            n for n, one in zip(names, entries, strict=True) if one.get("custom_fields") == mark
        ]

    assert marks(2) == ["system", "rest"]
    assert marks(3) == ["system", "user", "rest"]
    assert marks(5) == ["system", "assistant", "rest"]
    assert marks(5, dial=False) == marks(5, marks_cache=False) == []


def test_half_a_character_is_refused():
    request = ModelRequest((ModelMessage("user", "\ud83d"),))

    with pytest.raises(BadRequest):
        encode_openai(request, "m", dial=False)


@pytest.mark.parametrize("dial", [False, True])
def test_thoughts_are_written_under_their_name(dial):
    message = ModelMessage("assistant", "", thoughts=Thoughts({"reasoning": "Hm."}, "gpt"))

    body = msgspec.json.decode(encode_openai(ModelRequest([message]), "m", dial=dial))

    assert body["messages"] == [{"role": "assistant", "content": "", "reasoning": "Hm."}]


def test_a_part_of_a_thought_that_is_none_is_not_written():
    """A client may have written it into the state."""
    message = ModelMessage(
        "assistant", "a", thoughts=Thoughts({"role": "system", "signature": "x"})
    )

    body = msgspec.json.decode(encode_openai(ModelRequest([message]), "m", dial=True))

    assert body["messages"] == [{"role": "assistant", "content": "a"}]


def test_dials_model_gets_its_own_state_back_at_the_top_level_where_it_left_it():
    own = {"thread": 7}
    message = ModelMessage("assistant", "a", state={"session": 2}, model_state=own)

    written = [
        msgspec.json.decode(encode_openai(ModelRequest([message]), "m", dial=dial))["messages"][0]
        for dial in (True, False)
    ]

    bare = {"role": "assistant", "content": "a"}
    assert written == [
        {**bare, "custom_content": {"state": {"session": 2, "thread": 7}}},
        bare,
    ]


def test_names_of_earlier_calls_are_those_that_the_api_accepts():
    calls = tuple(ToolCall(name, name, "{}") for name in ("functions.look", "look ", "my.tool", ""))
    request = ModelRequest(
        (*MESSAGES, ModelMessage("assistant", "", tool_calls=calls)), (ToolSpec("my.tool", "", {}),)
    )

    body = msgspec.json.decode(encode_openai(request, "m", dial=False))

    written = body["messages"][1]["tool_calls"]
    assert [call["function"]["name"] for call in written] == [
        "functions_look",
        "look",
        "my.tool",
        "unnamed_tool",
    ]
