"""Stored responses: what is stored of them, and what the next request reads."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, re_path
from django.utils import timezone

from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.conversations.client_requests import ClientRequest, delete_answered
from apps.conversations.models import Conversation
from apps.live.hub import Hub
from apps.live.models import Run
from apps.responses import following
from apps.responses.compaction import CompactConsumer, TokenCountConsumer
from apps.responses.consumers import ResponseConsumer
from apps.responses.models import StoredResponse
from apps.responses.retention import erase_old
from apps.responses.routing import BASE
from apps.responses.storage import store_response
from apps.responses.stored_consumers import (
    InputItemsConsumer,
    ResponseCancelConsumer,
    StoredResponseConsumer,
)
from tests.capabilities.service import json_reply, serving
from tests.chat.scripts import settled
from tests.contract import proves_feature
from tests.gateway.scripts import (
    PATIENCE,
    Answer,
    Client,
    ScriptedModel,
    ScriptedWorkspace,
    add_application,
    calls,
    ends,
    says,
)
from tests.gateway.test_asking_ledger import PAY, paying
from tests.gateway.test_completions import publish
from tests.insights.budgets.rows import make_budget
from tests.responses.test_encoder import frames
from tests.writes.world import PNG

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

ADDRESS = "/v1/responses"
NOWHERE = "0" * 32
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@dataclass
class Place:
    """An application with a scripted model, and the key of a client."""

    application: Application
    key: str
    model: ScriptedModel = field(default_factory=ScriptedModel)
    hub: Hub = field(default_factory=Hub)

    def routes(self) -> list[URLPattern]:
        answering = {
            "open_workspace": ScriptedWorkspace(self.model),
            "recorded": self.hub.summaries.recorded,
            "hub": self.hub,
        }
        of_one = rf"{BASE}/(?P<response>[^/]+)"
        return [
            re_path(rf"{BASE}$", ResponseConsumer.as_asgi(**answering)),
            re_path(rf"{BASE}/compact$", CompactConsumer.as_asgi(**answering)),
            re_path(rf"{BASE}/input_tokens$", TokenCountConsumer.as_asgi(**answering)),
            re_path(rf"{of_one}$", StoredResponseConsumer.as_asgi(hub=self.hub)),
            re_path(rf"{of_one}/cancel$", ResponseCancelConsumer.as_asgi(hub=self.hub)),
            re_path(rf"{of_one}/input_items$", InputItemsConsumer.as_asgi(hub=self.hub)),
        ]

    async def begin(self, method: str, path: str = "", body: bytes = b"") -> Client:
        address, _, query = f"{ADDRESS}{path}".partition("?")
        client = Client(
            URLRouter(self.routes()),
            address,
            method=method,
            headers={"api-key": self.key},
            query=query,
        )
        await client.send(body)
        return client

    async def request(self, method: str, path: str = "", body: bytes = b"") -> Answer:
        answer = await (await self.begin(method, path, body)).read()
        await settled(self.hub)
        return answer

    async def post(self, path: str = "", **fields: Any) -> Answer:
        body = {"model": self.application.slug, "input": "Hi", **fields}
        return await self.request("POST", path, json.dumps(body).encode())

    async def respond(self, *script: Any, **fields: Any) -> dict[str, Any]:
        """Return the response that the model writes according to the script, by default "Hello"."""
        self.model.answers.append(script or (says("Hello"), ends()))
        answer = await self.post(**fields)
        assert answer.status == 200, answer.body
        found = frames(answer.body)[-1]["response"] if fields.get("stream") else answer.json()
        return dict(found)

    async def stored(self, response: dict[str, Any]) -> dict[str, Any]:
        answer = await self.request("GET", f"/{response['id']}")
        assert answer.status == 200, answer.body
        return dict(answer.json())

    def read(self) -> list[tuple[str, str]]:
        """Return the texts of users and of the model in the last request to the model."""
        said = [one for one in self.model.asked[-1].messages if one.role in ("user", "assistant")]
        return [(one.role, one.text) for one in said if one.text.strip()]


async def new_place(**fields: Any) -> Place:
    _, key = await sync_to_async(ApiKey.objects.create_key)(name="client")
    return Place(await add_application(**fields), key)


# --- What is stored ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_response_is_read_as_it_was_answered(is_streamed):
    place = await new_place()
    form = {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True}

    given = await place.respond(
        *([says('{"a": "b"}'), ends()]),
        stream=is_streamed,
        instructions="Be kind.",
        metadata={"a": "b"},
        text={"format": form},
    )
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        stored = await place.stored(given)

    assert stored == given
    assert (given["status"], given["store"], given["text"]) == ("completed", True, {"format": form})
    assert place.model.asked[-1].parameters["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": SCHEMA, "strict": True},
    }


async def test_a_response_is_stored_with_few_statements(monkeypatch: pytest.MonkeyPatch):
    place = await new_place()
    counted: list[Counter[str]] = []

    def counting(*args: Any) -> Any:
        with CaptureQueriesContext(connection) as queries:
            begun = store_response(*args)
        counted.append(Counter(kind_of(one["sql"]) for one in queries))
        return begun

    monkeypatch.setattr("apps.responses.consumers.store_response", counting)
    await place.respond()  # stores the manifest
    first = await place.respond()
    await place.respond(previous_response_id=first["id"])

    _, begun, continued = counted
    common = {
        "SAVEPOINT": 1,
        "SELECT runs_keptmanifest": 1,
        "INSERT runs_run": 1,
        "INSERT chat_message": 2,
        "INSERT runs_journalentry": 1,
        "UPDATE chat_conversation": 1,
        "INSERT responses_storedresponse": 1,
        "RELEASE": 1,
    }
    assert begun == {**common, "INSERT chat_conversation": 1}
    looked_up = {"SELECT chat_message": 1, "SELECT chat_conversation": 1, "SELECT runs_run": 1}
    assert continued == {**common, **looked_up, "SELECT runs_journalentry": 1}


def kind_of(sql: str) -> str:
    """Return the kind of a statement and its table."""
    table = re.search(r'(?:INTO|UPDATE|FROM) "?(\w+)', sql)
    return sql.split()[0] + (f" {table[1]}" if table else "")


async def test_a_continued_response_sends_the_model_the_same_as_the_whole_history():
    place = await new_place()
    words: Any = [{"role": "user", "content": word} for word in ("One", "Two")]
    first = await place.respond(says("3"), ends(), input=words)
    more = [{"role": "user", "content": word} for word in ("Four", "Five")]

    await place.respond(input=more, previous_response_id=first["id"])
    continued = place.read()
    await place.respond(input=[*words, *first["output"], *more])

    assert continued == place.read()
    assert continued == [("user", "One\n\nTwo"), ("assistant", "3"), ("user", "Four\n\nFive")]


async def test_pictures_and_files_are_part_of_a_continued_conversation():
    place = await new_place()
    data = base64.b64encode(PNG).decode()
    sent = [
        {"type": "input_text", "text": "Look at this."},
        {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
        {"type": "input_file", "filename": "a.txt", "file_data": "UmlnYQ=="},
    ]

    def asked() -> list[Any]:
        return [one.content for one in place.model.asked[-1].messages if one.role == "user"]

    first = await place.respond(input=[{"role": "user", "content": sent}])
    [begun] = asked()
    await place.respond(input="Again", previous_response_id=first["id"])

    assert data in str(begun)
    assert asked() == [begun, "Again"]
    listed = (await place.request("GET", f"/{first['id']}/input_items")).json()["data"]
    assert [item["content"] for item in listed] == [sent]


async def test_a_history_goes_on_without_a_response_that_was_deleted():
    place = await new_place()
    first = await place.respond(says("1"), ends(), input="One")
    second = await place.respond(says("2"), ends(), input="Two", previous_response_id=first["id"])

    deleted = await place.request("DELETE", f"/{first['id']}")
    await place.respond(input="Three", previous_response_id=second["id"])

    assert deleted.json() == {"id": first["id"], "object": "response", "deleted": True}
    assert (await place.request("GET", f"/{first['id']}")).status == 404
    assert place.read() == [("user", "Two"), ("assistant", "2"), ("user", "Three")]


@proves_feature("responses", "versions")
async def test_a_version_is_asked_by_its_number_and_stored():
    place = await new_place()
    for prompt in ("two", "three"):
        await publish(place.application, prompt)
    slug = place.application.slug

    first = await place.respond(model=f"{slug}@2")
    second = await place.respond(model=slug, previous_response_id=first["id"])

    runs = Run.objects.order_by("started_at").values_list("application_number", flat=True)
    assert [number async for number in runs] == [2, 3]
    prompts = [str(one.messages[0].content).partition("\n")[0] for one in place.model.asked]
    assert prompts == ["two", "three"]
    assert second["conversation"] == first["conversation"]
    assert (await place.post(model=f"{slug}@9")).status == 404


# --- Refusals ---------------------------------------------------------------------------------


async def test_what_a_response_asked_is_answered_in_the_foreground(loopback):
    async with serving(json_reply('{"done": true}')) as shop:
        place = await new_place(manifest=paying(shop.url))
        asked = await place.respond(*calls(PAY, '{"amount": 5}'))

        refused = await place.post(input="1", previous_response_id=asked["id"], background=True)
        before = len(shop.seen)
        place.model.answers.append([says("Done."), ends()])
        answer = await place.post(input="1", previous_response_id=asked["id"])

    assert (refused.status, refused.json()["error"]["param"]) == (400, "background")
    assert answer.json()["output"][0]["content"][0]["text"] == "Done."
    paid = [json.loads(seen.body) for seen in shop.seen if seen.method == "POST"]
    assert (before, paid) == (0, [{"amount": 5}])


@pytest.mark.parametrize("fields", [{}, {"stream": True}, {"background": True}])
async def test_a_spent_budget_is_403_and_stores_nothing(fields):
    place = await new_place()
    await sync_to_async(make_budget)(amount=0)

    answer = await place.post(**fields)

    error = answer.json()["error"]
    assert (answer.status, error["code"]) == (403, "insufficient_quota")
    assert not await Conversation.objects.aexists()
    assert place.model.asked == []


@pytest.mark.parametrize(
    "written",
    [
        "resp_1",
        f"resp_{NOWHERE}",
        f"RESP_{NOWHERE}",
        "%00",
        "resp_\u0660" + NOWHERE[1:],
        "a" * 9_000,
    ],
)
async def test_an_id_of_nothing_is_404_at_every_address(written):
    place = await new_place()

    answers = [
        *[await place.request(method, f"/{written}") for method in ("GET", "DELETE")],
        await place.request("GET", f"/{written}?stream=true"),
        await place.request("GET", f"/{written}/input_items"),
        await place.request("POST", f"/{written}/cancel"),
        await place.post(previous_response_id=written),
        await place.post(conversation=written),
        await place.post("/compact", previous_response_id=written),
        await place.post("/input_tokens", previous_response_id=written),
    ]

    assert [one.status for one in answers] == [404] * len(answers)
    assert all(len(one.body) < 400 for one in answers)


async def test_a_conversation_of_another_type_is_refused():
    place = await new_place()

    answers = [await place.post(conversation=one) for one in ({}, {"id": 7}, {"id": "conv_1"})]

    assert [one.status for one in answers] == [404, 404, 404]
    both = await place.post(conversation="conv_1", previous_response_id="resp_1")
    assert (both.status, both.json()["error"]["param"]) == (400, "conversation")


# --- In the background ------------------------------------------------------------------------


async def test_an_error_while_events_are_sent_ends_the_stream_and_not_the_response(monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError("The disk is gone.")

    place, may_end = await new_place(), asyncio.Event()
    place.model.answers.append([says("Hello"), may_end, ends()])
    body = {"model": place.application.slug, "input": "Hi", "background": True, "stream": True}
    client = await place.begin("POST", body=json.dumps(body).encode())
    await client.communicator.receive_output(PATIENCE)  # the headers
    written = b""
    while b"Hello" not in written:
        written += (await client.communicator.receive_output(PATIENCE))["body"]
    with monkeypatch.context() as patch:
        patch.setattr(following, "add_outcome", fail)
        may_end.set()
        await client.is_over()
        await settled(place.hub)
    while not client.communicator.output_queue.empty():
        written += (await client.communicator.receive_output(PATIENCE))["body"]
    sent = frames(written)

    *before, error = sent
    assert (error["type"], error["error"]["code"]) == ("error", "server_error")
    assert error["sequence_number"] == before[-1]["sequence_number"]
    path = f"/{before[0]['response']['id']}?stream=true&starting_after={error['sequence_number']}"
    rest = frames((await place.request("GET", path)).body)
    assert rest[-1]["type"] == "response.completed"


async def test_the_request_of_an_answered_response_is_deleted():
    place = await new_place()
    await place.respond(background=True)
    assert await ClientRequest.objects.acount() == 1

    assert await sync_to_async(delete_answered)() == 1
    assert await ClientRequest.objects.acount() == 0


# --- Retention --------------------------------------------------------------------------------


async def test_conversations_of_responses_alone_are_erased_after_their_days(settings):
    place, settings.RESPONSE_DAYS = await new_place(), 30
    old = timezone.now() - timedelta(days=31)
    for title in ("old", "new", "pinned", "of the page"):
        given = await place.respond()
        rows = Conversation.objects.filter(pk=given["conversation"]["id"].removeprefix("conv_"))
        await rows.aupdate(title=title, **({} if title == "new" else {"updated_at": old}))
    await Conversation.objects.filter(title="pinned").aupdate(pinned_at=old)
    page = await Conversation.objects.aget(title="of the page")
    await Run.objects.acreate(
        stream=page.pk, request=page.pk, application="a", status="done", bucket=page.owner
    )

    erased = await sync_to_async(erase_old)()

    left = {row.title async for row in Conversation.objects.all()}
    assert (erased, left) == (1, {"new", "pinned", "of the page"})
    assert await StoredResponse.objects.acount() == 3
    settings.RESPONSE_DAYS = 0
    await Conversation.objects.aupdate(updated_at=old)
    assert await sync_to_async(erase_old)() == 0
