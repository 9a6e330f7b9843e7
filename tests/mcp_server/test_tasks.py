"""Calls of clients with the tasks extension are durable runs, whose results are read later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from channels.db import database_sync_to_async

from apps.accounts.authentication import settle_uses
from apps.accounts.models import ApiKey
from apps.agent.model import Finish, ToolCallDelta
from apps.errors import ModelFailed
from apps.live.hub import HUB
from apps.mcp_server.tasks import EXTENSION
from tests.chat.scripts import MANIFEST, Scene, says, scene, settled
from tests.contract import proves_feature
from tests.insights.budgets.rows import make_budget
from tests.mcp_server.scripts import (
    FORMS,
    HANDSHAKE,
    call,
    error_of,
    request,
    result_of,
    site,
)
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

TASKS: dict[str, Any] = {**FORMS, "extensions": {EXTENSION: {}}}
ASKING: dict[str, Any] = {**MANIFEST, "features": {"questions": {}}}
QUESTION = (
    '{"question": "Which city?", "input_type": "single-select", "allow_freeform": false, '
    '"options": [{"label": "Oslo"}, {"label": "Riga"}]}'
)


@dataclass
class Caller:
    on: Scene
    key: str

    async def send(self, method: str, params: dict[str, Any], **options: Any) -> Any:
        def open_workspace(caller: Any, application: Any = None) -> Any:
            return self.on.visitor.open_workspace(caller)

        routes = site(open_workspace, hub=self.on.hub)
        given = {"capabilities": TASKS, "key": self.key, **options}
        return await request(routes, method, params, **given)

    async def begin(self, text: str = "Hi") -> str:
        task = result_of(await self.send("tools/call", call(self.on.application.slug, text)))
        assert (task["resultType"], task["status"]) == ("task", "working")
        return str(task["taskId"])

    async def task(self, id: str) -> dict[str, Any]:
        return result_of(await self.send("tasks/get", {"taskId": id}))


@asynccontextmanager
async def caller_scene(**fields: Any) -> AsyncIterator[Caller]:
    async with scene(**fields) as on:
        yield await caller_with_key(on)
        await settle_uses()
        await HUB.summaries.close()
        await asyncio.sleep(0)


async def caller_with_key(on: Scene) -> Caller:
    _, key = await database_sync_to_async(ApiKey.objects.create_key)(name="client")
    return Caller(on, key)


def asks() -> list[Any]:
    return [ToolCallDelta(0, "call-1", "internal_ask_question", QUESTION), Finish("tool_calls")]


@proves_feature("mcp", "reconnect")
async def test_the_result_of_a_call_is_read_later():
    async with caller_scene() as caller:
        id = await caller.begin()
        working = await caller.task(id)
        caller.on.model.put(says("Hello"), None)
        await settled(caller.on.hub)

        done = await caller.task(id)

    assert (working["status"], working["resultType"]) == ("working", "complete")
    assert "result" not in working
    assert (done["status"], done["ttlMs"], done["pollIntervalMs"]) == ("completed", None, 1000)
    assert done["result"]["content"] == [{"type": "text", "text": "Hello"}]
    assert done["result"]["structuredContent"]["finish_reason"] == "stop"
    assert done["result"]["isError"] is False


async def test_a_question_is_answered_with_an_update():
    async with caller_scene(manifest=ASKING) as caller:
        caller.on.model.put(*asks(), None)
        id = await caller.begin("Weather?")
        await settled(caller.on.hub)
        asked = await caller.task(id)
        [(key, form)] = asked["inputRequests"].items()
        wrong = {key: {"action": "accept", "content": {"choice": "7"}}}
        refused = await caller.send("tasks/update", {"taskId": id, "inputResponses": wrong})
        unknown = {"other": {"action": "accept", "content": {}}}
        ignored = await caller.send("tasks/update", {"taskId": id, "inputResponses": unknown})
        still = await caller.task(id)

        caller.on.model.put(says("Riga it is"), None)
        right = {key: {"action": "accept", "content": {"choice": "2"}}}
        answered = await caller.send("tasks/update", {"taskId": id, "inputResponses": right})
        await caller.task(id)  # This process resumes the run.
        await settled(caller.on.hub)
        done = await caller.task(id)

    assert form["method"] == "elicitation/create"
    assert form["params"]["message"] == "Which city?"
    assert error_of(refused)[1]["code"] == -32602
    assert (result_of(ignored)["resultType"], still["status"]) == ("complete", "input_required")
    assert result_of(answered)["resultType"] == "complete"
    assert done["result"]["structuredContent"]["text"] == "Riga it is"


async def test_a_task_is_canceled():
    async with caller_scene() as caller:
        id = await caller.begin()

        acknowledged = await caller.send("tasks/cancel", {"taskId": id})
        await settled(caller.on.hub)
        again = await caller.send("tasks/cancel", {"taskId": id})

        assert (await caller.task(id))["status"] == "cancelled"
    assert result_of(acknowledged)["resultType"] == result_of(again)["resultType"] == "complete"


async def test_a_failed_run_is_a_result_with_an_error():
    async with caller_scene() as caller:
        caller.on.model.put(ModelFailed("The model is away."))
        id = await caller.begin()
        await settled(caller.on.hub)

        done = await caller.task(id)

    assert (done["status"], done["result"]["isError"]) == ("completed", True)
    text = done["result"]["content"][0]["text"]
    assert text.startswith("Something went wrong")
    assert "(error reference: " in text


async def test_a_spent_budget_begins_no_task():
    async with caller_scene() as caller:
        await database_sync_to_async(make_budget)(amount=0)

        answer = await caller.send("tools/call", call(caller.on.application.slug))

    result = result_of(answer)
    assert (result["resultType"], result["isError"]) == ("complete", True)
    assert result["_meta"]["quickapps/error"]["code"] == "insufficient_quota"


@each_row(
    "options",
    [
        {"capabilities": FORMS},
        {"capabilities": {"extensions": {EXTENSION: {}}}},
        {"capabilities": None, "revision": HANDSHAKE},
    ],
)
async def test_clients_without_the_extension_or_forms_get_the_result_at_once(options):
    async with caller_scene(checks_tasks=False) as caller:
        caller.on.model.put(says("Hello"), None)

        answer = await caller.send("tools/call", call(caller.on.application.slug), **options)

    assert result_of(answer)["structuredContent"]["text"] == "Hello"


@each_row("method", ["tasks/get", "tasks/cancel", "tasks/update"])
async def test_tasks_belong_to_their_caller_and_need_the_extension(method):
    # Requests of the older revision end their session a moment later.
    async with caller_scene(checks_tasks=False) as caller:
        id = await caller.begin()
        stranger = await caller_with_key(caller.on)
        params = {"taskId": id, "inputResponses": {}}

        foreign = await stranger.send(method, params)
        unknown = await caller.send(method, {**params, "taskId": "no-task"})
        without = await caller.send(method, params, capabilities=FORMS)
        misled = await caller.send(method, params, headers={"mcp-name": "another"})
        older = await caller.send(method, params, revision=HANDSHAKE, capabilities=None)
        caller.on.model.put(None)
        await settled(caller.on.hub)

    codes = [error_of(one)[1]["code"] for one in (foreign, unknown, without, misled, older)]
    assert codes == [-32602, -32602, -32021, -32020, -32601]
