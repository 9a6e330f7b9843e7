from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest

from apps import process_state
from apps.agent.events import AttachmentAdded, ModelUsage, StateSaved, TextDelta, Usage
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import ModelRequest
from apps.errors import CallsItself, DeploymentNotFound, ModelFailed
from apps.runs.failures import failure
from tests.capabilities.service import Reply
from tests.contract import proves
from tests.dial_core.core import KEY
from tests.dial_core.faults import Faults
from tests.workspace.dial.callers import called, scripted, workspace

ASKED = ModelRequest((ModelMessage("user", "Hello"),))


async def answer(model, request=ASKED):
    deltas = []
    async with aclosing(model.stream(request)) as batches:
        async for batch in batches:
            deltas += batch
    return deltas


def said(deltas):
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def test_a_model_of_core_answers(fake):
    model = fake.add_model("gpt-4o", [[{"text": "One two"}]])

    found = await answer(await workspace(fake.url).model("gpt-4o"))

    assert said(found) == "One two"
    (body,) = model.asked
    assert body["messages"] == [{"role": "user", "content": "Hello"}]
    assert (body["model"], body["stream"]) == ("gpt-4o", True)
    (request,) = fake.requests
    assert request.target == (
        "/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview"
    )


async def test_custom_content_goes_both_ways(fake):
    sent = ModelMessage(
        "user", "Look", attachments=(Attachment("text/plain", "a", data="x"),), state={"n": 1}
    )
    attachment = {"type": "image/png", "title": "x", "url": "files/b/x.png"}
    model = fake.add_model("m", [[{"attachment": attachment}, {"state": {"n": 2}}]])

    deltas = await answer(await workspace(fake.url).model("m"), ModelRequest((sent,)))

    assert model.asked[0]["messages"][0]["custom_content"] == {
        "attachments": [{"type": "text/plain", "title": "a", "data": "x"}],
        "state": {"n": 1},
    }
    assert AttachmentAdded(Attachment("image/png", "x", url="files/b/x.png")) in deltas
    assert StateSaved({"n": 2}) in deltas


async def test_core_is_told_who_asks_and_what_for(fake):
    fake.add_model("m")
    headers = {
        "x-conversation-id": "c%201",
        "x-job-title": "Clerk",
        "x-mine": "yes",
        "x-odd": "n\u00e4ive",
    }
    trace = {"traceparent": "00-ab-cd-01", "tracestate": "v=1"}
    with called(
        fake, headers=headers, channel="ch7", locale="de-CH", bearer="jwt", trace=trace
    ) as own:
        inner = own.inside("applications/b7/Trip planner")
        await answer(await inner.model("m"))
        await answer(await inner.model("m", headers=["X-Other"]))
        key = fake.keys.past[0].value

    always = {
        "api-key": key,
        "authorization": "Bearer jwt",
        "x-conversation-id": "c%201",
        "x-job-title": "Clerk",
        "x-dial-client-channel-id": "ch7",
        "accept-language": "de-CH",
        "traceparent": "00-ab-cd-01",
        "tracestate": "v=1",
        "x-quickapps-chain": "applications%2Fb7%2FTrip%20planner",
    }
    everything, listed = (request.headers for request in fake.requests)
    assert everything.items() >= {**always, "x-mine": "yes", "x-odd": "n\u00e4ive"}.items()
    assert listed.items() >= always.items()
    assert not {"x-mine", "x-odd"} & listed.keys()


async def test_an_id_with_folders_is_encoded_once(fake):
    for name in ("applications/b7/My App__1.0", "applications/b7/My%20App__1.0"):
        with pytest.raises(ModelFailed):
            await answer(await workspace(fake.url).model(name))

    assert {request.path for request in fake.requests} == {
        "/openai/deployments/applications/b7/My%20App__1.0/chat/completions"
    }


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        (Faults(comments=True, crlf=True), "Grüße an alle"),
        (Faults(piece_bytes=3), "Grüße an alle"),
    ],
)
async def test_heartbeats_and_odd_pieces_change_nothing(fake, faults, text):
    fake.add_model("m", [[{"text": text}]])
    fake.faults["m"] = faults

    assert said(await answer(await workspace(fake.url).model("m"))) == text


async def test_a_chunk_that_core_adds_itself_is_understood(fake):
    statistics = {"usage_per_model": [{"model": "m", "prompt_tokens": 3, "completion_tokens": 4}]}
    bare = {"object": "chat.completion.chunk", "choices": [], "statistics": statistics}
    fake.add_model("m", [[{"text": "Hi"}, {"chunk": bare}]])

    deltas = await answer(await workspace(fake.url).model("m"))

    assert Usage(per_model=(ModelUsage("m", 3, 4),)) in [
        delta if not isinstance(delta, Usage) else Usage(per_model=delta.per_model)
        for delta in deltas
    ]


async def test_a_refusal_in_plain_text_is_told_by_its_status(fake):
    fake.add_model("m", userRoles=["admin"])

    with pytest.raises(ModelFailed) as caught:
        await answer(await workspace(fake.url).model("m"))

    assert (caught.value.status, caught.value.code, caught.value.display) == (403, "", "")
    assert "Forbidden deployment: m" in str(caught.value)
    assert "You don't have permission to use the AI model" in failure(caught.value).text


async def test_a_refusal_of_the_model_comes_with_its_code_and_its_words(fake):
    refused = {
        "status": 400,
        "message": "for logs",
        "code": "content_filter",
        "type": "invalid_request_error",
        "display_message": "Please rephrase.",
    }
    fake.add_model("m", [[{"error": refused}]])

    with pytest.raises(ModelFailed) as caught:
        await answer(await workspace(fake.url).model("m"))

    error = caught.value
    assert (error.status, error.code, error.kind) == (400, "content_filter", refused["type"])
    assert error.display == "Please rephrase."


async def test_how_long_core_wants_to_be_left_alone_is_heard(settings):
    reply = Reply(429, b'{"error": {"code": "429"}}', {"Retry-After": "7"})
    async with scripted(settings, reply) as (_, own):
        with pytest.raises(ModelFailed) as caught:
            await answer(await own.model("m"))

    assert (caught.value.is_transient, caught.value.retry_after) == (True, 7.0)


async def test_an_error_in_mid_stream_is_an_error(fake):
    error = {"message": "m", "code": "429", "display_message": "Later."}
    fake.add_model("m", [[{"text": "Hi"}, {"error": error}]])

    with pytest.raises(ModelFailed) as caught:
        await answer(await workspace(fake.url).model("m"))

    assert (caught.value.reason, caught.value.display) == ("stream", "Later.")


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        (Faults(drop_first=True), "connection"),
        (Faults(drop_after=1), "stream"),
        (Faults(stall_after=1), "timeout"),
    ],
)
async def test_an_answer_that_stops_is_a_failure_in_time(fake, faults, reason):
    fake.add_model("m", [[{"text": "One two three"}]])
    fake.faults["m"] = faults
    idle = 0.1 if faults.stall_after else 60.0
    model = await workspace(fake.url).model("m", idle_seconds=idle)

    with pytest.raises(ModelFailed) as caught:
        await answer(model)

    assert caught.value.reason == reason


async def test_a_core_that_is_not_there_cannot_be_reached(settings, unused_port):
    settings.DIAL_URL = f"http://127.0.0.1:{unused_port}"

    with pytest.raises(ModelFailed) as caught:
        await answer(await workspace(settings.DIAL_URL).model("m"))

    assert (caught.value.reason, caught.value.is_transient) == ("connection", True)


@proves("G-60")
async def test_the_key_goes_to_core_alone(settings, fake):
    settings.DIAL_URL = "http://core.example.org"

    with pytest.raises(ModelFailed, match="is not DIAL Core"):
        await answer(await workspace(fake.url).model("m"))

    assert fake.requests == []


def things():
    """Return the names of all objects that the running loop holds."""
    return set(process_state._stores[asyncio.get_running_loop()][0])


@proves("G-60")
async def test_nothing_is_kept_for_a_key_after_its_request(fake):
    fake.add_model("m")

    with called(fake) as own:
        await answer(await own.model("m"))
        kept = things()
    for number in range(3):
        with called(fake, headers={"x-number": str(number)}) as own:
            await answer(await own.model("m"))

    assert things() == kept
    assert not any(key.value in repr(kept) for key in fake.keys.past)


async def test_an_application_that_is_at_work_is_not_called_again(fake):
    own = workspace(fake.url, chain=("first", "applications/b7/My App"))
    inner = own.inside("second")

    for name in ("first", "second", "applications/b7/My App", "applications/b7/My%20App"):
        for ask in (inner.model, inner.deployment, inner.mcp_endpoint):
            with pytest.raises(CallsItself, match="cannot call itself: first → "):
                await ask(name)
    with pytest.raises(DeploymentNotFound):
        await inner.deployment("third")


async def test_what_can_be_no_id_is_not_asked_for(fake):
    own = workspace(fake.url)

    for name in ("../v1/bucket", "a//b", ""):
        for ask in (own.model, own.deployment, own.mcp_endpoint):
            with pytest.raises(DeploymentNotFound):
                await ask(name)
    assert fake.requests == []


async def test_secrets_stand_in_no_repr_and_no_error(settings):
    secret = "s3cret-per-request-key"
    reply = Reply(401, json.dumps({"error": {"message": f"Unknown {secret} jwt-7"}}).encode())
    async with scripted(settings, reply, key=secret, bearer="jwt-7") as (_, own):
        model = await own.model("m")
        with pytest.raises(ModelFailed) as caught:
            await answer(model)

    shown = f"{model!r} {own.calls!r} {own.caller!r} {own.files!r} {caught.value}"
    assert "Unknown … …" in str(caught.value)
    assert not any(word in shown for word in (secret, "jwt-7"))
    assert KEY not in shown
