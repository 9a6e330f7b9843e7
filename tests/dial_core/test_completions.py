"""A completion on its way through Core."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import httpx
from starlette.responses import Response, StreamingResponse

from tests.dial_core import Core
from tests.dial_core.callers import Call, heard, said, serve_application, told
from tests.dial_core.core import KEY

HELLO = {"messages": [{"role": "user", "content": "Hi there"}]}
TYPE = "https://apps.example.org/counter"


async def echo_body(call: Call) -> Response:
    return told(call.body)


async def test_an_application_of_the_sdk_answers_through_core(core: Core, sdk_url: str):
    core.add_application("counter", f"{sdk_url}/chat/completions")

    answer = await core.call_application("counter", HELLO)
    whole = await core.call_application("counter", HELLO, stream=False)

    assert json.loads(said(answer.events()))["count"] == 1
    assert whole.json()["choices"][0]["message"]["custom_content"]["state"] == {"count": 1}
    assert answer.headers["x-upstream-attempts"] == "1"
    assert whole.headers["x-upstream-attempts"] == "1"


async def test_headers_are_cores_own_and_the_rest_of_the_clients(core: Core):
    with serve_application(core.url, echo_body) as url:
        core.add_application(
            "app", url, {"a": 1}, schema_id=TYPE, defaultHeaders={"X-Default": "d", "X-Job": "d"}
        )
        await core.call_application(
            "app",
            HELLO,
            X_DIAL_APPLICATION_ID="forged",
            X_DIAL_APPLICATION_PROPERTIES='{"a":2}',
            X_DIAL_DEPLOYMENT_FEATURES="forged",
            X_Job="mine",
            X_Conversation_Id="c%20d",
            traceparent=f"00-{'a' * 32}-{'b' * 16}-01",
        )

    (sent,), (key,) = core.sent, core.keys.past
    assert (sent.headers["api-key"], len(key.value)) == (key.value, 32)
    assert (key.deployment, key.initiator.name, key.trace_id) == ("app", "Demo", "a" * 32)
    assert sent.headers["x-dial-application-id"] == "app"
    assert "x-dial-application-properties" not in sent.headers
    assert json.loads(sent.headers["x-dial-deployment-features"])["chat_completion"] is True
    assert [sent.headers[f"x-{name}"] for name in ("job", "default", "conversation-id")] == [
        "mine",
        "d",
        "c%20d",
    ]
    assert sent.headers["traceparent"].startswith(f"00-{'a' * 32}-")
    assert "host" not in {name for name in sent.headers if sent.headers[name] == core.url}


async def test_a_typed_application_without_properties_cannot_be_called(core: Core):
    core.add_application("stub", "http://127.0.0.1:9/", None, schema_id=TYPE)

    reply = await core.call_application("stub", HELLO)

    assert (reply.status, reply.text) == (500, "Typed application's properties not set")
    assert core.sent == []


async def test_defaults_fill_absent_keys_and_another_name_replaces_the_model(core: Core):
    with serve_application(core.url, echo_body) as url:
        core.add_application("app", url, defaults={"seed": 1, "top_p": 0.5}, overrideName="real")
        reply = await core.call_application("app", {**HELLO, "seed": 2}, stream=False)

    body = {**HELLO, "seed": 2, "top_p": 0.5, "model": "real", "stream": False}
    assert heard(reply.content) == body
    assert core.sent[0].headers["x-dial-override-name"] == "real"


def test_what_core_refuses_it_refuses_in_plain_text(core: Core, client: httpx.Client):
    """§8.2."""
    core.add_model("m")
    core.add_model("secret", userRoles=["admin"])
    path = "/openai/deployments/{}/chat/completions"
    refused = [
        client.post(path.format("m"), content="{}", headers={"content-type": "text/plain"}),
        client.post(path.format("nobody"), json=HELLO),
        client.post(path.format("secret"), json=HELLO),
        client.post(path.format("m"), content="{", headers={"content-type": "application/json"}),
        client.post("/openai/v1/chat/completions", json=HELLO),
    ]

    assert [(one.status_code, one.text) for one in refused] == [
        (415, "Only application/json is supported"),
        (404, "Deployment is not found: nobody"),
        (403, "Forbidden deployment: secret"),
        (400, "Failed to parse request body"),
        (400, "model is required"),
    ]
    assert {one.headers["content-type"] for one in refused} == {"text/plain; charset=utf-8"}


async def test_a_deployment_may_be_closed_to_other_deployments(core: Core):
    core.add_model("m", features={"accessibleByPerRequestKey": False})

    with core.request_key("app") as key:
        inside = await core.call_application("m", HELLO, key=key.value)
    outside = await core.call_application("m", HELLO)

    assert (inside.status, outside.status) == (403, 200)


async def test_words_pass_at_once_and_the_end_is_held_back(core: Core):
    """The buffer with `[DONE]` waits until the answer is over; all previous ones do not."""
    is_read = threading.Event()

    async def answer(call: Call) -> Response:
        async def stream() -> Any:
            yield b'data: {"n":1}\n\n'
            await asyncio.to_thread(is_read.wait, 60)
            yield b'data: {"n":2}\n\ndata: [DONE]\n\n'
            yield b": after\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    with serve_application(core.url, answer) as url:
        core.add_application("app", url)
        path = f"{core.url}/openai/deployments/app/chat/completions"
        headers = {"Api-Key": KEY}
        async with (
            httpx.AsyncClient(timeout=60) as client,
            client.stream("POST", path, json={**HELLO, "stream": True}, headers=headers) as reply,
        ):
            parts = reply.aiter_raw()
            first = await anext(parts)
            is_read.set()
            rest = [part async for part in parts]

    assert first == b'data: {"n":1}\n\n'
    assert rest == [b'data: {"n":2}\n\ndata: [DONE]\n\n: after\n\n']
