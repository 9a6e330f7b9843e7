from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey
from apps.agent.events import Usage
from apps.agent.messages import ModelMessage, ToolCall
from apps.catalog.actions import withdraw
from apps.catalog.versions.version_recorder import save_live
from apps.doors import run_consumer
from apps.doors.admission import Admission
from apps.errors import ModelFailed
from tests.contract import proves, proves_feature
from tests.gateway.scripts import (
    PATIENCE,
    ScriptedModel,
    ScriptedWorkspace,
    add_application,
    ask,
    asking,
    calls,
    ends,
    question,
    says,
)
from tests.tables import each_row

pytestmark = pytest.mark.django_db

WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


async def create_key(*applications, **fields):
    row, text = await sync_to_async(ApiKey.objects.create_key)(name="test", **fields)
    assert isinstance(row, ApiKey)
    await row.applications.aset(applications)
    return text


@proves("G-01")
async def test_an_answer_is_streamed_as_it_comes():
    application = await add_application()
    model = ScriptedModel([says("Hel"), says("lo"), ends()])

    answer = await ask(application, model, question(stream=True))

    assert answer.status == 200
    assert answer.headers == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
    }
    chunks = answer.chunks()
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant"}
    assert answer.text() == "Hello"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert {chunk["model"] for chunk in chunks} == {application.slug}
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert answer.pieces[-1].endswith(b"data: [DONE]\n\n")
    assert b'"finish_reason":"stop"' in answer.pieces[-1]


async def test_core_gets_the_last_event_in_a_write_of_its_own(monkeypatch):
    application = await add_application()
    model = ScriptedModel([says("Hello"), ends()])

    async def from_core(scope, while_connected):
        appdata = f"somebody/appdata/{application.slug}"
        return Admission(Caller("dial-somebody", kind="dial", appdata=appdata))

    monkeypatch.setattr(run_consumer, "visit", from_core)
    answer = await ask(application, model, question(stream=True))

    assert answer.text() == "Hello"
    assert answer.pieces[-1] == b"data: [DONE]\n\n"
    assert b'"finish_reason":"stop"' in answer.pieces[-2]


@proves("G-01", "G-12")
async def test_an_answer_is_given_whole():
    model = ScriptedModel([says("Hel"), says("lo"), ends()])

    answer = await ask(await add_application(), model, question())

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["choices"] == [
        {
            "index": 0,
            "finish_reason": "stop",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": "Hello",
                "refusal": None,
                "annotations": [],
                "custom_content": {"state": {"tool_execution_history": []}},
            },
        }
    ]


@proves("2.6")
@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_that_never_ends_is_cut_and_says_so(monkeypatch, stream):
    monkeypatch.setattr("apps.agent.progress.MOST_CHARACTERS", 1000)
    model = ScriptedModel([says("x" * 800), says("x" * 800), asyncio.Event()])

    answer = await ask(await add_application(), model, question(stream=stream))

    told = "x" * 1000 + "\n\n[The answer was cut here: the limit is 1,000 characters.]"
    if stream:
        assert answer.text() == told
        assert answer.chunks()[-1]["choices"][0]["finish_reason"] == "length"
    else:
        (choice,) = answer.json()["choices"]
        assert (choice["message"]["content"], choice["finish_reason"]) == (told, "length")


@proves("G-09")
async def test_the_first_words_leave_before_the_answer_is_complete():
    rest = asyncio.Event()
    client = asking(await add_application(), ScriptedModel([says("Hel"), rest, says("lo"), ends()]))
    await client.send(json.dumps(question(stream=True)).encode())

    await client.communicator.receive_output(PATIENCE)
    first = await client.communicator.receive_output(PATIENCE)
    assert b'{"content":"Hel"}' in first["body"]

    rest.set()
    while (await client.communicator.receive_output(PATIENCE)).get("more_body"):
        pass
    await client.is_over()


async def test_what_a_client_wishes_reaches_the_model():
    model = ScriptedModel([says("{}"), ends()])
    wishes: dict[str, Any] = {
        "tools": [WEATHER],
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
    }

    await ask(await add_application(), model, question(**wishes))

    (asked,) = model.asked
    assert [spec.name for spec in asked.tools] == ["internal_skills_read_skill", "weather"]
    assert asked.parameters["tool_choice"] == "auto"
    assert asked.parameters["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("stream", [False, True])
async def test_calls_of_the_clients_tools_are_the_clients_to_answer(stream):
    application = await add_application()
    model = ScriptedModel([calls("weather", '{"city":"Oslo"}'), ends()], [says("Cold"), ends()])
    first = question(tools=[WEATHER], stream=stream)

    answer = await ask(application, model, first)
    if stream:
        (call,) = next(
            choice["delta"]["tool_calls"]
            for chunk in answer.chunks()
            for choice in chunk["choices"]
            if "tool_calls" in choice["delta"]
        )
        reason = answer.chunks()[-1]["choices"][0]["finish_reason"]
    else:
        choice = answer.json()["choices"][0]
        (call,) = choice["message"]["tool_calls"]
        reason = choice["finish_reason"]
    assert reason == "tool_calls"
    assert call["function"] == {"name": "weather", "arguments": '{"city":"Oslo"}'}

    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "2"}
    second = {**first, "messages": [*first["messages"], said, result]}
    await ask(application, model, second)

    assert list(model.asked[1].messages[-2:]) == [
        ModelMessage("assistant", tool_calls=(ToolCall(call["id"], "weather", '{"city":"Oslo"}'),)),
        ModelMessage("tool", "2", tool_call_id=call["id"]),
    ]


async def test_only_the_caller_and_what_may_be_passed_on_reaches_the_workspace():
    application = await add_application()
    workspace = ScriptedWorkspace(ScriptedModel([says("Hi"), ends()]))
    text = await create_key(application)
    headers = {
        "Api-Key": text,
        "Authorization": "Bearer token-of-a-person",
        "Accept-Language": "de-CH, de;q=0.9",
        "X-Conversation-Id": "c1",
        "X-Api-Key": "secret",
        "X-Forwarded-For": "10.0.0.1",
        "X-DIAL-CLIENT-CHANNEL-ID": "channel",
        "Cookie": "sessionid=1",
    }

    await ask(application, workspace, question(), headers=headers, client=("10.0.0.9", 1))

    (caller,) = workspace.callers
    assert caller.kind == "key"
    assert caller.bucket == f"key-{text[:8]}"
    assert caller.limits.scope == frozenset({application.pk})
    assert caller.client.locale == "de-CH"
    assert caller.client.channel == "channel"
    assert caller.credentials.bearer == "token-of-a-person"
    assert caller.credentials.api_key == ""
    assert caller.client.headers == {
        "x-conversation-id": "c1",
        "x-dial-client-channel-id": "channel",
    }


async def test_whom_a_program_asks_for_is_known_to_the_workspace():
    application = await add_application()
    workspace = ScriptedWorkspace(ScriptedModel([says("Hi"), ends()], [says("Hi"), ends()]))
    headers = {"Api-Key": await create_key(application)}

    await ask(application, workspace, question(user="ann"), headers=headers)
    await ask(application, workspace, question(), headers=headers)

    assert [caller.end_user for caller in workspace.callers] == ["ann", ""]


async def test_the_model_of_the_body_names_the_application_where_the_address_does_not():
    application = await add_application()
    client = asking(application, ScriptedModel([says("Hi"), ends()]))
    client.scope["path"] = "/openai/v1/chat/completions"

    await client.send(json.dumps(question(model=application.slug)).encode())

    assert (await client.read()).json()["model"] == application.slug


async def publish(application, prompt: str) -> None:
    application.manifest = {
        **application.manifest,
        "orchestrator": {
            "deployment": {"deployment_id": "scripted"},
            "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
        },
    }
    await sync_to_async(save_live)(application)


@proves_feature("completions", "versions")
async def test_a_version_is_asked_by_its_number_and_a_bound_key_stays_with_its_own():
    application = await add_application()
    for prompt in ("two", "three"):
        await publish(application, prompt)
    version = await application.versions.aget(number=1)
    await sync_to_async(withdraw.execute)(version)
    bound = {"Api-Key": await create_key(application, version=2)}
    slug = application.slug

    async def prompt_of(name: str, **options: Any) -> str | int:
        model = ScriptedModel([says("Hi"), ends()])
        answer = await ask(name, model, question(), **options)
        if answer.status != 200:
            return answer.status
        return str(model.asked[0].messages[0].content).partition("\n")[0]

    assert [await prompt_of(name) for name in (slug, f"{slug}@2", f"{slug}@3")] == [
        "three",
        "two",
        "three",
    ]
    assert [await prompt_of(f"{slug}@{number}") for number in ("1", "4", "x")] == [401, 401, 401]
    names = (slug, f"{slug}@2", f"{slug}@3")
    assert [await prompt_of(name, headers=bound) for name in names] == ["two", "two", 404]


# --- Who may ask -------------------------------------------------------------------------------


async def test_what_may_not_be_used_looks_exactly_like_what_does_not_exist():
    mine, other = await add_application(), await add_application(is_public=False)
    broken = await add_application(manifest={"orchestrator": 1})
    disabled = await add_application(is_enabled=False)
    headers = {"Authorization": f"Bearer {await create_key(mine)}"}
    model = ScriptedModel()
    slugs = [other.slug, broken.slug, disabled.slug, "nothing-here", "not a slug", "\0", "x" * 500]

    answers = [await ask(slug, model, question(), headers=headers) for slug in slugs]

    assert {answer.status for answer in answers} == {404}
    bodies = [
        answer.body.replace(json.dumps(slug)[1:-1].encode(), b"?")
        for slug, answer in zip(slugs, answers, strict=True)
    ]
    assert bodies[0] == bodies[1] == bodies[2] == bodies[3]
    assert answers[0].json()["error"]["code"] == "DeploymentNotFound"


async def test_a_key_is_asked_for_in_the_same_words_whether_the_application_exists_or_not():
    private = await add_application(is_public=False)

    answers = [await ask(slug, ScriptedModel(), question()) for slug in (private.slug, "nothing")]

    assert [answer.status for answer in answers] == [401, 401]
    assert answers[0].body == answers[1].body


@each_row(
    ("options", "status"),
    [
        ({}, 200),
        ({"client": ("::1", 1)}, 200),
        ({"client": ("::ffff:127.0.0.1", 1)}, 200),
        ({"client": None}, 401),
        ({"client": ("192.168.1.5", 1)}, 401),
        ({"headers": {"X-Forwarded-For": "127.0.0.1"}}, 401),
        ({"headers": {"Forwarded": "for=127.0.0.1"}}, 401),
        ({"headers": {"Host": "evil.example"}}, 401),
        ({"headers": {"Origin": "https://evil.example"}}, 401),
        ({"headers": {"Origin": "null"}}, 401),
        ({"headers": {"Origin": "http://localhost:8000"}}, 200),
        ({"headers": {"Authorization": "Bearer nonsense"}}, 401),
        ({"headers": {"Api-Key": "abcdefgh." + "x" * 32}}, 401),
    ],
)
async def test_public_applications_are_open_to_programs_on_this_machine_alone(options, status):
    application = await add_application()

    answer = await ask(application, ScriptedModel([says("Hi"), ends()]), question(), **options)

    assert answer.status == status


# --- What goes wrong ---------------------------------------------------------------------------


async def error_of(body, **options):
    application = await add_application()
    answer = await ask(application, ScriptedModel(), body, **options)
    assert answer.headers["content-type"] == "application/json"
    return answer.status, answer.json()["error"]


async def test_messages_in_the_wrong_order_are_refused_before_anything_is_said():
    messages = [{"role": "user", "content": "Hi"}, {"role": "tool", "content": "2"}]

    status, error = await error_of({"messages": messages, "stream": True})

    told = "Invalid messages array:\n- Message at index 1: tool message must have a tool_call_id."
    assert status == 400
    assert error == {
        "message": told,
        "type": "invalid_request_error",
        "param": None,
        "code": "400",
        "display_message": told,
    }


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"messages": NaN}', b"[" * 100_000])
async def test_a_body_that_cannot_be_read_is_refused(body):
    status, error = await error_of(body)

    assert (status, error["type"]) == (400, "invalid_request_error")


async def test_only_one_choice_is_made():
    status, error = await error_of(question(n=2))

    assert (status, error["code"]) == (422, "422")
    assert re.fullmatch(r"app-\w+ deployment doesn't support n > 1", error["message"])


async def test_a_body_that_is_declared_too_large_is_not_even_read(settings):
    settings.GATEWAY_MAX_BODY_BYTES = 2000
    client = asking(await add_application(), ScriptedModel(), headers={"Content-Length": "2001"})

    assert (await client.read()).status == 413


async def test_a_body_that_is_larger_than_it_said_is_cut_off(settings):
    settings.GATEWAY_MAX_BODY_BYTES = 2000
    client = asking(await add_application(), ScriptedModel(), headers={"Content-Length": "10"})

    for _ in range(3):
        await client.send(b" " * 1000, more=True)

    assert (await client.read()).status == 413


async def test_a_body_may_come_in_pieces():
    client = asking(await add_application(), ScriptedModel([says("Hi"), ends()]))
    body = json.dumps(question()).encode()

    for byte in body:
        await client.send(bytes([byte]), more=True)
    await client.send()

    assert (await client.read()).status == 200


async def test_other_methods_are_refused():
    client = asking(await add_application(), ScriptedModel())
    client.scope["method"] = "GET"

    answer = await client.read()

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@proves("2.6")
@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_before_the_first_words_has_a_status(stream, caplog):
    model = ScriptedModel([ModelFailed("no such key", status=401, code="invalid_api_key")])

    answer = await ask(await add_application(), model, question(stream=stream))

    error = answer.json()["error"]
    assert answer.status == 401
    assert error["code"] == "invalid_api_key"
    assert error["message"] == error["display_message"]
    told = re.fullmatch(r"(.*) \(error reference: ([0-9a-f]{8})\)", error["display_message"])
    assert told is not None
    text, reference = told.groups()
    assert text == (
        "Authentication failed when accessing the AI model. Please contact your administrator."
    )
    assert f"reference={reference}" in caplog.text


@proves("2.6")
@each_row("stream", [False, True])
@each_row(
    ("asked", "told"),
    [(None, None), (0.0, "0"), (7.2, "8"), (86_400.0, "86400"), (999_999_999.0, "2678400")],
)
async def test_a_limit_of_the_models_service_is_told_with_its_time(asked, told, stream):
    model = ScriptedModel([ModelFailed("slow down", status=429, retry_after=asked)])

    answer = await ask(await add_application(), model, question(stream=stream))

    error = answer.json()["error"]
    assert (answer.status, answer.headers.get("retry-after")) == (429, told)
    assert (error["type"], error["code"]) == ("rate_limit_error", "429")


async def test_a_limit_that_outlasts_the_first_heartbeat_keeps_its_status(settings):
    settings.HEARTBEAT_SECONDS = 300.0
    busy = ModelFailed("slow down", status=429, retry_after=900.0, is_transient=True)
    model = ScriptedModel([busy], [says("Hello"), ends()])

    answer = await ask(await add_application(), model, question(stream=True))

    assert (answer.status, answer.headers.get("retry-after")) == (429, "900")


async def test_only_a_limit_is_told_with_a_time():
    model = ScriptedModel([ModelFailed("in trouble", status=503, retry_after=5.0)])

    answer = await ask(await add_application(), model, question())

    assert (answer.status, answer.headers.get("retry-after")) == (500, None)


@proves("2.6")
async def test_a_limit_after_the_first_words_is_told_by_its_code():
    model = ScriptedModel([says("Hel"), ModelFailed("slow down", status=429, code="tokens")])

    answer = await ask(await add_application(), model, question(stream=True))

    assert (answer.status, answer.text()) == (200, "Hel")
    assert answer.chunks()[-1]["error"]["code"] == "tokens"


@proves("2.6")
async def test_an_error_after_the_first_words_is_one_more_event_and_the_stream_ends_properly():
    model = ScriptedModel([says("Hel"), Usage(9), ModelFailed("cut", reason="stream")])

    answer = await ask(await add_application(), model, question(stream=True))

    assert answer.status == 200
    assert answer.text() == "Hel"
    *_, state, cost, last = answer.chunks()
    assert "state" in state["choices"][0]["delta"]["custom_content"]
    assert cost["usage"]["prompt_tokens"] == 9
    assert cost["choices"] == [{"index": 0, "finish_reason": None, "delta": {}}]
    assert last["error"]["type"] == "runtime_error"
    assert last["error"]["message"].startswith(
        "The AI model service failed while responding. Please try again later. (error reference: "
    )
    assert answer.pieces[-1] == b"data: [DONE]\n\n"


@proves("2.6")
async def test_an_error_nobody_expected_tells_nothing_of_itself(caplog):
    model = ScriptedModel([RuntimeError("a secret")])

    answer = await ask(await add_application(), model, question())

    assert answer.status == 500
    assert b"secret" not in answer.body
    assert answer.json()["error"]["message"].startswith(
        "Something went wrong with the execution of your request. "
        "Please contact your administrator. (error reference: "
    )
    assert "RuntimeError: a secret" in caplog.text


async def test_a_broken_application_is_the_administrators_to_mend(caplog):
    application = await add_application(manifest={"orchestrator": 1})

    answer = await ask(application, ScriptedModel(), question())

    assert answer.status == 500
    assert answer.json()["error"]["code"] == "application_broken"
    assert "orchestrator" in caplog.text


# --- Silence and leaving -----------------------------------------------------------------------


async def test_a_client_that_goes_away_stops_the_model():
    model = ScriptedModel([says("Hel"), asyncio.Event()])
    client = asking(await add_application(), model)
    await client.send(json.dumps(question(stream=True)).encode())
    await client.communicator.receive_output(PATIENCE)
    await client.communicator.receive_output(PATIENCE)

    await client.leave()

    async with asyncio.timeout(PATIENCE):
        await model.was_cancelled.wait()
    await client.is_over()


async def test_a_client_that_goes_away_before_the_first_word_stops_the_model_as_well():
    model = ScriptedModel([asyncio.Event()])
    client = asking(await add_application(), model)
    await client.send(json.dumps(question()).encode())
    await model.was_asked.wait()

    await client.leave()

    async with asyncio.timeout(PATIENCE):
        await model.was_cancelled.wait()
    await client.is_over()


async def test_a_client_that_goes_away_while_it_speaks_asks_nobody():
    model = ScriptedModel()
    client = asking(await add_application(), model)
    await client.send(b'{"messages"', more=True)

    await client.leave()

    await client.is_over()
    assert model.asked == []


async def test_silence_is_broken_by_comments(settings):
    settings.HEARTBEAT_SECONDS = 0.02
    more = asyncio.Event()
    client = asking(await add_application(), ScriptedModel([says("Hel"), more, says("lo"), ends()]))
    await client.send(json.dumps(question(stream=True)).encode())

    pieces: list[bytes] = []
    while pieces.count(b": heartbeat\n\n") < 2:
        pieces.append((await client.communicator.receive_output(PATIENCE)).get("body", b""))
    more.set()
    while (await client.communicator.receive_output(PATIENCE)).get("more_body"):
        pass

    await client.is_over()
    assert b"Hel" in pieces[1]


async def test_a_slow_start_opens_the_stream(settings):
    settings.HEARTBEAT_SECONDS = 0.02
    more = asyncio.Event()
    failure = ModelFailed("late", reason="timeout")
    client = asking(await add_application(), ScriptedModel([more, failure]))
    await client.send(json.dumps(question(stream=True)).encode())

    start = await client.communicator.receive_output(PATIENCE)
    first = await client.communicator.receive_output(PATIENCE)
    more.set()

    assert start["status"] == 200
    assert b'{"role":"assistant"}' in first["body"]
    rest = b""
    while not rest.endswith(b"data: [DONE]\n\n"):
        rest += (await client.communicator.receive_output(PATIENCE))["body"]
    assert b"timed out" in rest
    assert rest.count(b'{"role":"assistant"}') == 0
    await client.is_over()
