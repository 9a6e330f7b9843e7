"""Tasks are read, listed, canceled, followed and answered."""

from __future__ import annotations

import re
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import override_settings

from apps.a2a.errors import failure_body
from apps.agent.model import Finish, ToolCallDelta
from apps.conversations.models import Conversation
from apps.runs.failures import RunFailure
from tests.a2a.scripts import Agent, agent_scene, agent_with_key, message, state_of
from tests.chat.scripts import MANIFEST, says, settled
from tests.contract import proves_feature
from tests.insights.budgets.rows import make_budget
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
ASKING: dict[str, Any] = {**MANIFEST, "features": {"questions": {}}}
QUESTION = (
    '{"question": "Which city?", "input_type": "single-select", "allow_freeform": false, '
    '"options": [{"label": "Oslo"}, {"label": "Riga"}]}'
)


def asks() -> list[Any]:
    return [ToolCallDelta(0, "call-1", "internal_ask_question", QUESTION), Finish("tool_calls")]


@proves_feature("a2a", "questions")
async def test_a_question_waits_for_a_message_to_the_same_task():
    async with agent_scene(manifest=ASKING) as (on, agent):
        on.model.put(*asks(), None, says("Oslo it is"), None)

        asked = (await agent.call("SendMessage", {"message": message("Weather?")}))["task"]
        answer = message("Oslo", taskId=asked["id"])
        answered = (await agent.call("SendMessage", {"message": answer}))["task"]

        assert state_of(asked) == "TASK_STATE_INPUT_REQUIRED"
        text, data = asked["status"]["message"]["parts"]
        assert "1. Oslo" in text["text"]
        assert data["data"]["kind"] == "question"
        assert (answered["id"], state_of(answered)) == (asked["id"], "TASK_STATE_COMPLETED")
        assert answered["history"][2]["messageId"] == answer["messageId"]
        roles = [one["role"].removeprefix("ROLE_") for one in answered["history"]]
        assert roles == ["USER", "AGENT", "USER", "AGENT"]


@proves_feature("a2a", "reconnect")
async def test_a_stream_of_a_message_ends_with_a_question_and_one_of_a_task_with_the_task():
    async with agent_scene(manifest=ASKING) as (on, agent):
        on.model.put(says("Wait. "), *asks(), None)
        begun = await agent.stream("SendStreamingMessage", {"message": message("Weather?")})
        id = begun[0]["task"]["id"]
        subscription = await agent.subscribe(id)
        on.model.put(says("Done"), None)

        await agent.call("SendMessage", {"message": message("2", taskId=id)})

        assert state_of(begun[-1]["statusUpdate"]) == "TASK_STATE_INPUT_REQUIRED"
        assert state_of(subscription.task) == "TASK_STATE_INPUT_REQUIRED"
        followed = await subscription.rest()
        assert state_of(followed[-1]["statusUpdate"]) == "TASK_STATE_COMPLETED"


@proves_feature("a2a", "cancel")
async def test_a_task_that_asks_is_canceled_once():
    async with agent_scene(manifest=ASKING) as (on, agent):
        on.model.put(*asks(), None)
        task = (await agent.call("SendMessage", {"message": message("Weather?")}))["task"]

        canceled = await agent.call("CancelTask", {"id": task["id"]})
        again = await agent.call("CancelTask", {"id": task["id"]})

        assert state_of(canceled) == "TASK_STATE_CANCELED"
        assert (again["code"], again["data"][0]["reason"]) == (-32002, "TASK_NOT_CANCELABLE")


async def test_tasks_are_listed_by_pages_the_newest_first():
    async with agent_scene() as (on, agent):
        ids = [await ask(on, agent) for _ in range(3)]

        first = await agent.call("ListTasks", {"pageSize": 2})
        rest = await agent.call("ListTasks", {"pageSize": 2, "pageToken": first["nextPageToken"]})

        listed = [*first["tasks"], *rest["tasks"]]
        assert [task["id"] for task in listed] == ids[::-1]
        assert (first["totalSize"], rest["nextPageToken"]) == (3, "")
        assert not any("artifacts" in task for task in listed)
        nothing = await agent.call("ListTasks", {"status": "TASK_STATE_WORKING"})
        unknown = await agent.call("ListTasks", {"contextId": "x"})
        assert nothing["tasks"] == unknown["tasks"] == []


async def test_the_names_of_protocol_buffers_are_read_as_those_of_json():
    async with agent_scene() as (on, agent):
        on.model.put(says("Hello"), None)
        part = {"data": {"a_b": 1}, "media_type": "application/json"}
        sent = {**message("", parts=[part]), "message_id": "m"}
        del sent["messageId"]

        task = (await agent.call("SendMessage", {"message": sent}))["task"]
        given = {"id": task["id"], "history_length": 1}
        listed = await agent.call("ListTasks", {"context_id": task["contextId"], "page_size": 1})

        asked = task["history"][0]
        assert (asked["messageId"], '"a_b":1' in asked["parts"][0]["text"]) == ("m", True)
        [answer] = (await agent.call("GetTask", given))["history"]
        assert answer["role"] == "ROLE_AGENT"
        assert (listed["pageSize"], len(listed["tasks"])) == (1, 1)


async def test_tasks_of_other_keys_and_of_deleted_conversations_do_not_exist():
    async with agent_scene() as (on, agent):
        id, stranger = await ask(on, agent), await agent_with_key(on)
        methods = ("GetTask", "CancelTask", "SubscribeToTask")

        foreign = [await stranger.call(method, {"id": id}) for method in methods]
        answered = await stranger.call("SendMessage", {"message": message("Hi", taskId=id)})
        config = {"taskId": id, "url": "https://example.com"}
        pushed = await stranger.call("CreateTaskPushNotificationConfig", config)
        listed = await stranger.call("ListTasks")
        await database_sync_to_async(Conversation.objects.all().delete)()
        deleted = await agent.call("GetTask", {"id": id})

        codes = {told["code"] for told in (*foreign, answered, pushed, deleted)}
        assert (codes, listed["tasks"]) == ({-32001}, [])


@override_settings(KEY_REQUESTS_PER_MINUTE=1)
async def test_a_rate_limit_is_no_error_of_the_parameters_and_says_when_to_retry():
    async with agent_scene() as (on, agent):
        on.model.put(says("Hello"), None)
        params = {"message": message("Hi")}
        await agent.call("SendMessage", params)

        refused = [
            await agent.http(
                "POST", "", {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
            )
            for method in ("SendMessage", "SendStreamingMessage")
        ]
        over_http = await agent.http("POST", "/message:send", params)

        for told in refused:
            assert (told.status, told.body["id"], told.body["error"]["code"]) == (429, 7, -32000)
            info = told.body["error"]["data"][0]
            assert (info["reason"], info["domain"]) == ("RATE_LIMIT_EXCEEDED", "quickapps")
        assert (over_http.status, over_http.body["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
        seconds = [int(told.headers["retry-after"]) for told in (*refused, over_http)]
        assert all(0 < one <= 60 for one in seconds)


async def test_a_spent_budget_is_refused_with_its_renewal_and_begins_no_task():
    async with agent_scene() as (_, agent):
        await database_sync_to_async(make_budget)(amount=0)
        params = {"message": message("Hi")}

        refused = [
            await agent.http(
                "POST", "", {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
            )
            for method in ("SendMessage", "SendStreamingMessage")
        ]
        over_http = await agent.http("POST", "/message:send", params)
        listed = await agent.call("ListTasks")

        for told in refused:
            assert (told.status, told.body["id"], told.body["error"]["code"]) == (429, 7, -32000)
            assert told.body["error"]["message"].startswith("This app’s daily budget")
            info = told.body["error"]["data"][0]
            assert (info["reason"], info["domain"]) == ("INSUFFICIENT_QUOTA", "quickapps")
        assert (over_http.status, over_http.body["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
        seconds = [int(told.headers["retry-after"]) for told in (*refused, over_http)]
        assert all(0 < one <= 86_400 for one in seconds)
        assert listed["tasks"] == []


def test_only_wrong_parameters_have_the_code_for_wrong_parameters():
    statuses = (400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503)

    codes = {one: failure_body(RunFailure(one, "No", "No", "code")).rpc_code for one in statuses}

    wrong = dict.fromkeys((400, 413, 415, 422), -32602)
    refused = dict.fromkeys((401, 403, 404, 409, 429), -32000)
    assert codes == {**wrong, **refused, 500: -32603, 503: -32603}


async def test_a_context_has_one_task_at_a_time():
    async with agent_scene() as (on, agent):
        waiting = {"message": message("Hi"), "configuration": {"returnImmediately": True}}
        task = (await agent.call("SendMessage", waiting))["task"]
        second = message("Hi", contextId=task["contextId"])

        refused = await agent.call("SendMessage", {"message": second})
        on.model.put(says("Hello"), None, says("Again"), None)
        await settled(on.hub)
        accepted = (await agent.call("SendMessage", {"message": second}))["task"]

        assert refused["code"] == -32004
        assert accepted["contextId"] == task["contextId"]
        assert accepted["id"] != task["id"]


async def test_a_client_that_leaves_does_not_end_its_task():
    async with agent_scene() as (on, agent):
        client = agent.client("/message:stream")
        await client.send(
            b'{"message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hi"}]}}'
        )
        await on.model.was_asked.wait()

        await client.leave()
        await client.is_over()
        on.model.put(says("Hello"), None)

        await settled(on.hub)
        [task] = (await agent.call("ListTasks"))["tasks"]
        assert state_of(task) == "TASK_STATE_COMPLETED"


@proves_feature("a2a", "errors")
async def test_a_failed_task_has_its_reason_and_the_reference_for_operators():
    async with agent_scene() as (on, agent):
        on.model.put(RuntimeError("no luck"))

        task = (await agent.call("SendMessage", {"message": message("Hi")}))["task"]

        [part] = task["status"]["message"]["parts"]
        assert state_of(task) == "TASK_STATE_FAILED"
        assert re.search(r" \(error reference: [0-9a-f]{8}\)$", part["text"])
        assert "no luck" not in str(task)


def sent(**fields: Any) -> dict[str, Any]:
    return {"message": {**message("Hi"), **fields}}


MISTAKES: list[tuple[str, Any, int]] = [
    ("SendMessage", None, -32602),
    ("SendMessage", [], -32602),
    ("SendMessage", {"message": "Hi"}, -32602),
    ("SendMessage", sent(parts=[]), -32602),
    ("SendMessage", sent(parts=[{}]), -32602),
    ("SendMessage", sent(parts=[{"text": "a", "data": 1}]), -32602),
    ("SendMessage", sent(parts=[{"text": "  "}]), -32602),
    ("SendMessage", sent(parts=[{"raw": "?"}]), -32602),
    ("SendMessage", sent(parts=[{"url": "http://127.0.0.1/a"}]), -32602),
    ("SendMessage", sent(parts=[{"url": "file:///etc/passwd"}]), -32602),
    ("SendMessage", sent(parts=[{"text": "a" * 100_001}]), -32602),
    ("SendMessage", sent(parts=[{"text": "a"}] * 101), -32602),
    ("SendMessage", sent(role="ROLE_AGENT"), -32602),
    ("SendMessage", sent(messageId="a\0"), -32602),
    ("SendMessage", sent(contextId="a\0"), -32602),
    ("SendMessage", sent(contextId="11111111-1111-4111-8111-111111111111"), -32602),
    ("SendMessage", sent(taskId="\0"), -32001),
    ("GetTask", {"id": 1}, -32602),
    ("GetTask", {"id": "11111111-1111-4111-8111-111111111111"}, -32001),
    ("ListTasks", {"pageSize": 0}, -32602),
    ("ListTasks", {"pageSize": 10**30}, -32602),
    ("ListTasks", {"pageToken": "é"}, -32602),
    ("ListTasks", {"status": "DONE"}, -32602),
    ("ListTasks", {"historyLength": -1}, -32602),
    ("ListTasks", {"statusTimestampAfter": "yesterday"}, -32602),
    ("ListTasks", {"statusTimestampAfter": "0001-01-01T00:00:00+14:00"}, -32602),
    ("ListTasks", {"statusTimestampAfter": "9999-12-31T23:59:59-14:00"}, -32602),
    ("tasks/get", {"id": "1"}, -32601),
]


@each_row(("method", "params", "code"), MISTAKES)
async def test_mistakes_are_explained_and_store_nothing(method: str, params: Any, code: int):
    async with agent_scene() as (_, agent):
        told = await agent.call(method, params)

        assert told.get("code") == code, told
        assert await database_sync_to_async(Conversation.objects.count)() == 0


BODIES: list[tuple[bytes, int, int]] = [
    (b"", 200, -32600),
    (b"{", 200, -32700),
    (b"\xff", 200, -32700),
    (b"[]", 200, -32600),
    (b'{"jsonrpc": "2.0", "method": "GetTask", "params": {"id": "1"}}', 200, -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "GetTask"}', 200, -32600),
    (b"[" * 100_000, 200, -32602),
]


@each_row(("body", "status", "code"), BODIES)
async def test_bodies_that_are_no_calls_are_refused(body: bytes, status: int, code: int):
    async with agent_scene() as (_, agent):
        reply = await agent.http("POST", "", body)

        assert (reply.status, reply.body["error"]["code"]) == (status, code), reply.body


async def test_a_body_of_another_type_is_refused_in_both_bindings():
    async with agent_scene() as (_, agent):
        kind = {"content-type": "text/plain"}

        call = await agent.http("POST", "", b"{", **kind)
        sent = await agent.http("POST", "/message:send", b"{", **kind)

        assert (call.status, call.body["error"]["code"]) == (200, -32005)
        assert (sent.status, sent.body["error"]["code"]) == (415, 415)


async def ask(on: Any, agent: Agent) -> str:
    on.model.put(says("Hello"), None)
    return str((await agent.call("SendMessage", {"message": message("Hi")}))["task"]["id"])
