"""Scripts and programs ask questions over HTTP."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser, User
from django.urls import path

from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.conversations.answering.continuation import sweeper
from apps.conversations.models import Conversation, Message
from apps.live.hub import Hub
from apps.live.models import Interaction, Run
from apps.task_api.tasks import AnswerConsumer, CancelConsumer, SubmitConsumer, TaskConsumer
from tests.chat.scripts import (
    MANIFEST,
    PATIENCE,
    Scene,
    StoredSession,
    add_application,
    says,
    scene,
    settled,
)
from tests.contract import proves, proves_feature
from tests.fakes import calling, saying

pytestmark = pytest.mark.django_db

TOKEN = "a" * 32


class Program:
    """A client with the session of the scene's visitor, or with a key."""

    def __init__(
        self, on: Scene, hub: Hub | None = None, key: str = "", token: str = TOKEN
    ) -> None:
        self.on, self.hub, self.key, self.token = on, hub or on.hub, key, token

    async def request(self, method: str, address: str, body: Any = None) -> tuple[int, Any]:
        options = {"hub": self.hub, "open_workspace": self.on.visitor.open_workspace}
        routes: Any = [
            path("SubmitMessage", SubmitConsumer.as_asgi(**options)),
            path("tasks/<uuid:task>", TaskConsumer.as_asgi(**options)),
            path("tasks/<uuid:task>/cancel", CancelConsumer.as_asgi(**options)),
            path("tasks/<uuid:task>/answer", AnswerConsumer.as_asgi(**options)),
        ]
        headers = [(b"host", b"localhost"), (b"cookie", f"csrftoken={TOKEN}".encode())]
        if self.key:
            headers.append((b"api-key", self.key.encode()))
        else:
            headers.append((b"x-csrftoken", self.token.encode()))
        scope = {
            "type": "http",
            "method": method,
            "path": f"/{address}",
            "query_string": b"",
            "headers": headers,
            "user": AnonymousUser() if self.key else self.on.visitor.user,
            "session": StoredSession(None) if self.key else self.on.visitor.session,
        }
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        exchange = ApplicationCommunicator(URLRouter(routes), scope)
        await exchange.send_input({"type": "http.request", "body": b"" if body is None else sent})
        head = await exchange.receive_output(PATIENCE)
        answer = await exchange.receive_output(PATIENCE)
        await exchange.wait(PATIENCE)
        await asyncio.sleep(0)  # the listener for a disconnect ends now
        return head["status"], json.loads(answer["body"])

    async def submit(self, **fields: Any) -> tuple[int, Any]:
        message = {"application": self.on.application.slug, "text": "Count.", **fields}
        return await self.request("POST", "SubmitMessage", message)

    async def status(self, task: str) -> tuple[int, Any]:
        return await self.request("GET", f"tasks/{task}")

    async def cancel(self, task: str) -> tuple[int, Any]:
        return await self.request("POST", f"tasks/{task}/cancel")

    async def answer(self, task: str, key: str, answer: Any) -> tuple[int, Any]:
        return await self.request("POST", f"tasks/{task}/answer", {"key": key, "answer": answer})

    async def until_over(self, task: str) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            _, told = await self.status(task)
            if told["status"] not in ("queued", "running"):
                return told
        raise TimeoutError


@proves("T-34")
async def test_a_program_has_no_page_that_could_run_tools():
    async with scene() as on:
        refused = await Program(on).submit(surface="page")

    assert (refused[0], refused[1]["error"]["code"]) == (400, "bad_request")


async def make_key(*applications: Application) -> str:
    create = database_sync_to_async(ApiKey.objects.create_key)
    row, key = await create(name="program", is_limited=bool(applications))
    await cast(ApiKey, row).applications.aset(applications)
    return str(key)


@proves_feature("conversations", "text")
@proves("T-11", "T-41")
async def test_a_message_has_a_task_at_once_whose_status_follows_its_answer():
    async with scene() as on:
        program = Program(on)
        await program.submit()  # the application is resolved by now
        status, begun = await program.submit()
        _, going = await program.status(begun["task_id"])
        on.model.put(says("one"), None, says("one"), None)
        over = await program.until_over(begun["task_id"])

    answer = await Message.objects.aget(run=begun["task_id"], role="assistant")
    assert status == 202
    assert (going["status"], going["message"], going["finished_at"]) == ("running", None, None)
    assert over == {
        **begun,
        "application": on.application.slug,
        "status": "done",
        "started_at": going["started_at"],
        "finished_at": over["finished_at"],
        "message": {
            "id": str(answer.uuid),
            "text": "one",
            "attachments": [],
            "finish_reason": "stop",
        },
        "error": None,
        "questions": [],
    }


@pytest.mark.usefixtures("nothing_predefined")
async def test_a_conversation_goes_on_and_a_request_that_is_repeated_is_taken_once():
    async with scene() as on:
        program = Program(on)
        on.model.put(says("one"), None)
        _, first = await program.submit()
        await program.until_over(first["task_id"])
        again = {"conversation": first["conversation"], "text": "Go on.", "id": str(uuid4())}

        _, second = await program.submit(**again)
        repeated = await program.submit(**again)
        busy = await program.submit(conversation=first["conversation"])
        on.model.put(says("two"), None)
        over = await program.until_over(second["task_id"])

    assert second["conversation"] == first["conversation"]
    assert repeated == (202, second)
    assert (busy[0], busy[1]["error"]["code"]) == (409, "run_going")
    assert over["message"]["text"] == "two"
    assert [message.content for message in on.model.asked[1].messages] == [
        "Count.",
        "one",
        "Go on.",
    ]


@proves_feature("conversations", "cancel")
@proves("T-08")
async def test_a_task_is_cancelled_through_any_process_and_once():
    async with scene() as on:
        program = Program(on)
        _, begun = await program.submit()
        await on.model.was_asked.wait()

        status, _ = await Program(on, Hub()).cancel(begun["task_id"])
        over = await program.until_over(begun["task_id"])
        again = await program.cancel(begun["task_id"])

    assert status == 202
    assert (over["status"], over["message"]["finish_reason"]) == ("stopped", "stopped")
    assert (again[0], again[1]["error"]["code"]) == (409, "no_run")


@proves_feature("conversations", "errors")
async def test_a_task_that_fails_says_why():
    async with scene() as on:
        on.model.put(RuntimeError("no luck"))
        _, begun = await Program(on).submit()

        over = await Program(on).until_over(begun["task_id"])

    assert over["status"] == "failed"
    assert set(over["error"]) == {"text", "reference"}
    assert "no luck" not in json.dumps(over)


async def test_a_key_has_its_own_bucket_and_asks_the_applications_of_its_scope():
    async with scene(is_public=False) as on:
        other = await add_application()
        program = Program(on, key=await make_key(on.application))
        stranger = Program(on, key=await make_key(on.application))
        on.model.put(says("one"), None)
        _, begun = await program.submit()
        over = await program.until_over(begun["task_id"])

        refused = [
            await program.submit(application=other.slug),
            await stranger.status(begun["task_id"]),
            await stranger.cancel(begun["task_id"]),
            await stranger.submit(conversation=begun["conversation"]),
            await Program(on).status(begun["task_id"]),
            await Program(on).submit(),
            await Program(on, key="wrong").submit(),
        ]

    conversation = await Conversation.objects.aget()
    assert over["message"]["text"] == "one"
    assert conversation.owner == f"key-{program.key[:8]}"
    assert [(status, body["error"]["code"]) for status, body in refused] == [
        (404, "DeploymentNotFound"),
        (404, "task_not_found"),
        (404, "task_not_found"),
        (404, "conversation_not_found"),
        (404, "task_not_found"),
        (404, "DeploymentNotFound"),
        (401, "unauthorized"),
    ]


async def test_a_key_of_a_person_asks_what_its_person_may_use():
    async with scene(is_public=False, is_shared=False) as on:
        people = [await User.objects.acreate(username=name) for name in ("owner", "other")]
        await Application.objects.filter(pk=on.application.pk).aupdate(owner=people[0])
        create = database_sync_to_async(ApiKey.objects.create_key)
        keys = [(await create(name="program", user=person))[1] for person in people]
        on.model.put(says("one"), None)
        _, begun = await Program(on, key=keys[0]).submit()
        over = await Program(on, key=keys[0]).until_over(begun["task_id"])
        status, refused = await Program(on, key=keys[1]).submit()

    assert over["message"]["text"] == "one"
    assert (status, refused["error"]["code"]) == (404, "DeploymentNotFound")


@pytest.mark.parametrize("change", [{"revoked": True}, {"is_limited": True}])
async def test_another_process_goes_on_for_a_key_as_far_as_it_still_reaches(change):
    async with scene() as on:
        program = Program(on, key=await make_key())
        _, begun = await program.submit()
        await on.model.was_asked.wait()
        await ApiKey.objects.aupdate(**change)
        await Run.objects.aupdate(beat_at="2000-01-01T00:00:00Z")

        await sweeper(Hub(), on.visitor.open_workspace).sweep()

    run = await Run.objects.aget()
    assert str(run.pk) == begun["task_id"]
    assert run.status == "failed"
    assert len(on.model.asked) == 1


async def test_another_process_goes_on_for_a_key():
    async with scene() as on:
        program = Program(on, key=await make_key(on.application))
        _, begun = await program.submit()
        await on.model.was_asked.wait()
        await Run.objects.aupdate(beat_at="2000-01-01T00:00:00Z")

        second = Hub()
        await sweeper(second, on.visitor.open_workspace).sweep()
        await on.model.was_cancelled.wait()
        on.model.put(says("one"), None)
        over = await program.until_over(begun["task_id"])
        await settled(second)

    assert over["message"]["text"] == "one"


async def test_what_cannot_be_taken_is_refused_with_json():
    async with scene() as on:
        program = Program(on)
        no_session = Program(on)
        found = [
            await program.request("POST", "SubmitMessage", b"{"),
            await program.submit(application="no/slug"),
            await program.submit(text=" "),
            await program.submit(attachments=[{"url": "files/other/one.txt"}]),
            await program.submit(application="missing"),
            await program.submit(conversation=str(uuid4())),
            await program.request("POST", "SubmitMessage", b" " * (1024 * 1024 + 1)),
            await program.request("GET", "SubmitMessage"),
            await program.status(str(uuid4())),
            await Program(on, token="b" * 32).submit(),
            await Program(on, token="").cancel(str(uuid4())),
        ]
        on.hub.is_closing = True
        found.append(await program.submit())
        on.hub.is_closing = False
        on.visitor.session = StoredSession(None)
        found.append(await no_session.submit())

    assert [(status, body["error"]["code"]) for status, body in found] == [
        (400, "bad_request"),
        (400, "bad_request"),
        (400, "empty_text"),
        (400, "file_missing"),
        (404, "DeploymentNotFound"),
        (404, "conversation_not_found"),
        (413, "invalid_request_error"),
        (405, "method_not_allowed"),
        (404, "task_not_found"),
        (403, "csrf_failed"),
        (403, "csrf_failed"),
        (503, "server_stopping"),
        (401, "no_session"),
    ]


async def test_a_message_for_a_conversation_with_an_answer_waits_as_a_task_of_its_own():
    async with scene() as on:
        program = Program(on)
        _, first = await program.submit()
        conversation = first["conversation"]
        await on.model.was_asked.wait()
        going = {"conversation": conversation}
        refused, _ = await program.submit(**going)
        request = {**going, "while_running": "queue", "id": str(uuid4())}
        status, queued = await program.submit(**request)
        again = await program.submit(**request)
        _, waiting = await program.status(queued["task_id"])
        _, other = await program.submit(**going, while_running="queue")
        removed, cancelled = await program.cancel(other["task_id"])
        gone, _ = await program.status(other["task_id"])
        on.model.put(None, says("Two."), None)
        await program.until_over(first["task_id"])
        over = await program.until_over(queued["task_id"])

    assert (refused, status, again) == (409, 202, (202, queued))
    assert queued["conversation"] == conversation
    assert (waiting["status"], waiting["application"]) == ("queued", on.application.slug)
    assert (removed, cancelled["status"], gone) == (202, "stopped", 404)
    assert (over["status"], over["message"]["text"]) == ("done", "Two.")


ASKING = {**MANIFEST, "features": {"questions": {}}}


@asynccontextmanager
async def asked(**arguments: Any) -> AsyncIterator[tuple[Scene, Program, Any]]:
    """Return a waiting task, whose model has asked the user something."""
    async with scene(manifest=ASKING) as on:
        wanted = {"question": "Where?", "input_type": "text", **arguments}
        on.model.put(*calling(("q", "internal_ask_question", wanted)), None)
        program = Program(on)
        _, begun = await program.submit()
        assert (await program.until_over(begun["task_id"]))["status"] == "waiting"
        yield on, program, begun


@proves_feature("conversations", "questions")
@proves("D-43")
async def test_a_message_answers_the_question_for_which_its_conversation_waits():
    async with asked() as (on, program, begun):
        message = {"conversation": begun["conversation"], "text": "Riga", "id": str(uuid4())}
        status, told = await program.submit(**message, while_running="queue")
        again = await program.submit(**message)
        on.model.put(*saying("Fine."), None)
        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        over = await program.until_over(begun["task_id"])
        late = await program.submit(**message)

    row = await Interaction.objects.aget()
    answer = {**begun, "answered": row.key}
    assert (status, told, again, late) == (202, answer, (202, answer), (202, answer))
    assert row.answer == {"outcome": "answered", "choices": [], "text": "Riga"}
    assert (over["status"], over["message"]["text"]) == ("done", "Fine.")
    assert "The user wrote: Riga" in str(on.model.asked[1].messages[-1].content)
    assert await Message.objects.filter(role="user").acount() == 1


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        ({"input_type": "single-select", "allow_freeform": False}, {"while_running": "queue"}, 202),
        ({"input_type": "single-select", "allow_freeform": False}, {}, 409),
        ({}, {"while_running": "stop"}, 202),
        ({}, {"text": "x" * 10_001}, 400),
    ],
)
async def test_a_message_that_is_no_answer_waits_or_is_refused_as_any_other(
    arguments, message, status
):
    options = {"options": [{"label": "A"}]} if arguments else {}
    async with asked(**arguments, **options) as (on, program, begun):
        found, told = await program.submit(conversation=begun["conversation"], **message)
        row = await Interaction.objects.aget()
        on.model.put(*saying("Fine."), None)

    assert (found, "answered" in told) == (status, False)
    assert row.request is None
    assert (row.answer or {}).get("outcome") != "answered"


async def test_a_message_stops_the_answer_that_is_going():
    async with scene() as on:
        program = Program(on)
        _, first = await program.submit()
        await on.model.was_asked.wait()
        going = {"conversation": first["conversation"], "while_running": "stop"}
        _, second = await program.submit(**going)
        stopped = await program.until_over(first["task_id"])
        on.model.put(says("Two."), None)
        over = await program.until_over(second["task_id"])

    assert (stopped["status"], over["message"]["text"]) == ("stopped", "Two.")
