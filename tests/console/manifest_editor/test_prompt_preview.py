"""The preview of a draft shows the request that a run sends."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.agent.stages import silent
from apps.catalog import resolve
from apps.catalog.content.models import ContentItem
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.runs.workspaces import open_workspace
from apps.workspace.local.models import Deployment
from tests.catalog.rows import make_operator, store_application
from tests.contract import proves
from tests.workspace.openai.service import DONE, chunked, finish, service, text

pytestmark = pytest.mark.django_db

PAGE = "/admin/catalog/application/preview/"
PLACE = "---\ntitle: Orders\n---\nThey look at orders."
Events = list[tuple[str, dict[str, Any]]]


@pytest.fixture(autouse=True)
def _content(settings: Any) -> Any:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    ContentItem.objects.create(kind="prompt", name="platform", text="We are Acme.")
    ContentItem.objects.create(kind="place", name="orders", text=PLACE)
    resolve.forget_applications()
    yield
    resolve.forget_applications()


def manifest(**changes: Any) -> dict[str, Any]:
    prompt = {"type": "custom", "content": "You sell trips.", "variables": {}}
    orchestrator = {"deployment": {"deployment_id": "gpt"}, "system_prompt": prompt}
    return {"orchestrator": orchestrator, "contexts": [], "tool_sets": [], **changes}


async def preview(user: User, draft: Any, **fields: str) -> Events:
    client = AsyncClient()
    await sync_to_async(client.force_login)(user)
    written = draft if isinstance(draft, str) else json.dumps(draft)
    answer: Any = await client.post(PAGE, {"manifest": written, **fields})
    assert answer.status_code == 200
    body = b"".join([part async for part in answer.streaming_content]).decode()
    return [event_of(one) for one in body.strip().split("\n\n")]


def event_of(written: str) -> tuple[str, dict[str, Any]]:
    name, data = written.split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def operator() -> User:
    return await sync_to_async(make_operator)()


@proves("D-08")
async def test_d_08_the_steps_and_the_prompt_are_those_of_a_run():
    user = await operator()
    async with service(chunked(text("Yes"), finish(), DONE)) as running:
        await Deployment.objects.acreate(
            deployment_id="gpt", provider="openai", base_url=running.url, model_name="m"
        )
        events = await preview(user, manifest(), question="Is it paid?", place="orders")
        assert running.bodies == []

        await sync_to_async(store_application)(slug="travel", title="Travel", manifest=manifest())
        application = await resolve.resolve_application("travel")
        caller = Caller(f"user-{user.pk}", "user", user_id=user.pk)
        asked = (ModelMessage("user", "Is it paid?"),)
        request = RunRequest(asked, place=application.place("orders"))
        await run_application(application, request, open_workspace(caller), caller, silent)
        sent = msgspec.json.decode(running.bodies[0])

    names = [name for name, _ in events]
    assert names == ["layer", "layer", "layer", "layer", "request"]
    assert [data["layer"] for name, data in events if name == "layer"] == [
        "platform", "application", "place", "skills"
    ]  # fmt: skip
    found = events[-1][1]
    assert found["flat"] == sent["messages"][0]["content"]
    assert [one["text"] for one in found["messages"][:1]] == [sent["messages"][1]["content"]]
    assert len(found["messages"]) == len(sent["messages"]) - 1
    assert [json.loads(one["text"]) for one in found["tools"]] == sent["tools"]
    rest = {key: value for key, value in sent.items() if key not in ("messages", "tools")}
    assert json.loads(found["parameters"]) == rest


async def test_a_draft_with_a_mistake_is_told_so():
    [(name, data)] = await preview(await operator(), manifest(contexts=5))

    assert (name, "contexts" in data["text"]) == ("problem", True)


@pytest.mark.parametrize("draft", ["", "{", "[]"])
async def test_what_is_no_manifest_is_told_so(draft):
    [(name, _)] = await preview(await operator(), draft)

    assert name == "problem"


async def test_an_unknown_place_is_told():
    [(name, data)] = await preview(await operator(), manifest(), place="order")

    assert (name, data["text"][:30]) == ("problem", "Unknown place: 'order'. Leave ")


async def test_a_model_that_there_is_not_is_told():
    events = await preview(await operator(), manifest())

    assert events[-1][0] == "problem"


@proves("D-08")
async def test_hooks_are_not_called(monkeypatch):
    from apps.capabilities.hooks import capability

    async def call_hook(*args: Any, **named: Any) -> None:
        raise AssertionError("a hook was called")

    monkeypatch.setattr(capability, "call_hook", call_hook)
    hook = {"event": "on_request_start", "tool_name": "internal_skills_read_skill", "arguments": {}}
    draft = manifest(hooks=[hook])
    draft["orchestrator"]["deployment"]["deployment_id"] = "demo-model"
    await Deployment.objects.acreate(deployment_id="demo-model", provider="demo")

    events = await preview(await operator(), draft)

    assert events[-1][0] == "request"


async def test_staff_who_may_not_change_applications_see_nothing():
    user = await User.objects.acreate(username="viewer", is_staff=True)
    may_view = await Permission.objects.aget(codename="view_application")
    await user.user_permissions.aadd(may_view)
    client = AsyncClient()
    await sync_to_async(client.force_login)(user)

    assert (await client.post(PAGE, {"manifest": "{}"})).status_code == 403
