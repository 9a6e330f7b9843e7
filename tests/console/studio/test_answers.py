"""The draft answers in the studio, and no conversation is stored."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from apps.catalog.models import Application
from apps.conversations.models import Conversation
from apps.insights.models import ModelCall
from apps.live.hub import HUB
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with
from tests.console.studio.asking import Events, ask
from tests.console.studio.trials.services import service, shop
from tests.workspace.openai import service as openai

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 0)


async def client_of() -> AsyncClient:
    client = AsyncClient()
    await sync_to_async(client.force_login)(await sync_to_async(make_operator)())
    return client


@sync_to_async
def saved(**fields: Any) -> Application:
    make_deployment()
    return make_application(**fields)


def asked(document: Any, *messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "title": "Travel",
        "description": "",
        "manifest": document,
        "messages": messages,
        **more,
    }


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def text_of(events: Events) -> str:
    return "".join(data["text"] for name, data in events if name == "text")


def last(events: Events, wanted: str) -> dict[str, Any]:
    return [data for name, data in events if name == wanted][-1]


async def test_an_unsaved_draft_answers_and_tells_what_was_sent_and_what_it_cost():
    client, row = await client_of(), await saved()
    prompt = {"type": "custom", "content": "You sell {what}.", "variables": {"what": "trips"}}
    document = manifest_with(
        orchestrator={"deployment": {"deployment_id": "demo-model"}, "system_prompt": prompt}
    )
    events = await ask(client, row, asked(document, said("Hello")))
    assert "built-in demo model" in text_of(events)
    sent = last(events, "sent")
    assert any("You sell trips." in one["text"] for one in sent["prompt"])
    end = last(events, "end")
    assert (end["calls"], end["tool_calls"]) == (1, 0)
    assert end["input"] > 0
    assert end["output"] > 0
    assert not await Conversation.objects.aexists()
    live = await ask(client, row, asked(document, said("Hello"), which="live"))
    assert not any("You sell trips." in one["text"] for one in last(live, "sent")["prompt"])


async def test_test_messages_have_the_studio_as_their_source():
    client, row = await client_of(), await saved()

    await ask(client, row, asked(manifest_with(), said("Hello")))
    await HUB.summaries.flush()

    run = await RunSummary.objects.aget()
    call = await ModelCall.objects.aget()
    assert (run.get_door_display(), call.door, call.version) == ("Studio", "studio", 0)


async def test_a_call_that_waits_for_approval_is_asked_there_and_answered_with_the_next_message():
    client, row = await client_of(), await saved()
    document = manifest_with(
        tool_sets=[{"type": "predefined", "template_name": "weather"}],
        features={"approval": {"mode": "confirm"}},
    )
    question = said("What is the weather in Oslo?")
    first = await ask(client, row, asked(document, question))
    assert last(first, "ask") == {"kind": "approval"}
    state = last(first, "end")["state"]
    answer = {"role": "assistant", "content": text_of(first), "custom_content": {"state": state}}
    second = await ask(client, row, asked(document, question, answer, said("2")))
    assert [name for name, _ in second if name in ("ask", "problem")] == []
    assert last(second, "tool")["failed"] is True
    assert last(second, "end")["tool_calls"] == 1


@pytest.mark.usefixtures("loopback")
async def test_the_draft_answers_in_the_language_of_the_browser():
    client, row = await client_of(), await saved()

    with service() as (url, _):
        named = {**shop(url), "name": {"en": "Shop", "de": "Laden"}}
        document = manifest_with(tool_sets=[named])
        events = await ask(
            client, row, asked(document, said("Please look up an item.")), language="de"
        )

    assert [data["title"] for name, data in events if name == "stage"] == ["Laden · look_up"]


async def test_a_draft_that_cannot_run_and_a_conversation_that_is_none_are_told_so():
    client, row = await client_of(), await saved()
    url = f"/admin/catalog/application/{row.pk}/studio/answer/"

    async def refused(body: Any) -> tuple[int, str]:
        answer = await client.post(url, body, content_type="application/json")
        return answer.status_code, answer.json()["message"]

    status, message = await refused(asked({"orchestrator": 3}, said("Hello")))
    assert (status, "orchestrator" in message) == (422, True)
    system = {"role": "system", "content": "Obey"}
    unreadable = (
        "messages: send messages with a role and content; the last one must be from the user."
    )
    assert await refused(asked(manifest_with(), system, said("Hello"))) == (400, unreadable)
    assert (await refused(asked(manifest_with())))[0] == 400


@pytest.mark.usefixtures("loopback")
async def test_the_message_of_a_model_service_that_refuses_is_shown_with_the_kind_of_failure():
    client = await client_of()
    error = b'{"error": {"message": "temperature is too high for sk-abcdefghijklmnop"}}'
    async with openai.service(openai.answer("400 Bad Request", error)) as running:
        fields = {"provider": "openai", "base_url": running.url, "model_name": "m"}
        await sync_to_async(make_deployment)("own", **fields)
        document = manifest_with(
            orchestrator={
                "deployment": {"deployment_id": "own"},
                "system_prompt": {"type": "custom", "content": "Help.", "variables": {}},
            }
        )

        events = await ask(client, await saved(), asked(document, said("Hello")))

    said_by_service = "temperature is too high for …"
    shown = {"model": "own", "error": "status 400", "said": said_by_service}
    assert last(events, "failed") == shown


async def test_a_blocked_host_is_named_once_and_stored_with_the_call():
    client, row = await client_of(), await saved()
    fields = {"provider": "openai", "base_url": "http://10.0.0.1/v1", "model_name": "m"}
    await sync_to_async(make_deployment)("own", **fields)
    document = manifest_with(orchestrator={"deployment": {"deployment_id": "own"}})

    events = await ask(client, row, asked(document, said("Hello")))
    await HUB.summaries.flush()

    cause = (
        "The host '10.0.0.1' is on a private network. If the server may contact it, add 10.0.0.1 "
        "to the setting PRIVATE_NETWORK_ALLOWLIST."
    )
    assert last(events, "failed") == {"model": "own", "error": "blocked", "said": ""}
    assert last(events, "problem")["text"] == cause
    call = await ModelCall.objects.aget()
    assert (call.error, call.said) == ("blocked", cause)
