"""The requests of models for an answer of the page are stored unchanged and shown to its owner."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import AuditEntry
from apps.agent.meter import PromptSpan, SentRequest
from apps.conversations.models import Conversation
from apps.insights.meter import KeptRequest
from apps.live.database import on_a_thread
from apps.live.history import sent_requests
from apps.live.history.request_view import view_of
from apps.live.history.sent_requests import delete_old, digests_in, requests_of
from apps.live.models import Run, SentPart, SentRequestRow
from apps.live.run_summary import RunSummary
from apps.workspace.openai.model import make_openai_model
from tests.chat.pages.test_views import add_application, run_in
from tests.chat.scripts import MANIFEST, Scene, ScriptedWorkspace, Visitor, scene
from tests.contract import proves
from tests.workspace.openai.service import DONE, Service, chunked, finish, service, text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback"), pytest.mark.postgres]

PROMPT = {"type": "custom", "content": "You sell trips.", "variables": {}}
TRAVEL = {**MANIFEST, "orchestrator": {**MANIFEST["orchestrator"], "system_prompt": PROMPT}}


class ServedWorkspace(ScriptedWorkspace):
    async def model(self, deployment_id: str, **wishes: object) -> Any:
        return self.paced


class ServedVisitor(Visitor):
    @property
    def open_workspace(self) -> Any:
        return ServedWorkspace(self.model)


async def converse(on: Scene, running: Service, *questions: str) -> None:
    model: Any = make_openai_model(base_url=running.url, api_key="k", model="m", idle_seconds=60)
    on.visitor = ServedVisitor(on.application, model)
    tab = await on.visitor.tab(on.hub)
    conversation = await tab.ask(questions[0])
    await tab.until_over()
    for question in questions[1:]:
        await tab.ask(question, conversation)
        await tab.until_over()
    await on.visitor.leave()


def fine() -> list[Any]:
    return chunked(text("Fine, *thanks*."), finish(), DONE)


def sent_list(key: str, row: SentRequestRow, parts: Any) -> bytes:
    """Return a list of a body, reassembled."""
    [digests] = [value for name, _, value in row.members if name == key]
    return b"[%b]" % b",".join(parts[digest].text.encode() for digest in digests)


@proves("T-23")
async def test_t_23_what_is_shown_is_what_was_sent_byte_for_byte():
    async with service(fine(), fine()) as running, scene(manifest=TRAVEL) as on:
        await converse(on, running, "Wie heißt du?", 'And "you"?\n\0')
    runs = [run async for run in Run.objects.order_by("started_at")]
    found = [(await on_a_thread(partial(requests_of, run.pk)))[0] for run in runs]

    for (row, parts), body in zip(found, running.bodies, strict=True):
        raw = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        for key in ("messages", "tools"):
            assert sent_list(key, row, parts) == bytes(raw[key])
        rest = {key: msgspec.json.decode(value) for key, value in raw.items()}
        assert {key: value for key, form, value in row.members if form == "value"} == {
            key: value for key, value in rest.items() if key not in ("messages", "tools")
        }
        assert [key for key, *_ in row.members] == list(raw)
    assert [span[:2] for span in found[1][0].prompt] == [
        ["application", "orchestrator.system_prompt"],
        ["skills", "capability 'skills'"],
    ]
    assert view_of(*found[1]).prompt[0].text == "You sell trips."
    # The prompt, the tools and the previous messages are stored once.
    first, second = (set(digests_in(row.members)) for row, _ in found)
    assert len(first & second) == len(first)
    assert await SentPart.objects.acount() == len(first | second)


async def test_requests_go_with_their_conversation():
    async with service(fine()) as running, scene(manifest=TRAVEL) as on:
        await converse(on, running, "Hi")
    assert await SentRequestRow.objects.acount() == 1

    conversation = await Conversation.objects.aget()
    await sync_to_async(conversation.delete)()

    assert (await SentRequestRow.objects.acount(), await SentPart.objects.acount()) == (0, 0)


async def test_requests_go_with_the_rows_of_runs(settings):
    async with service(fine()) as running, scene(manifest=TRAVEL) as on:
        await converse(on, running, "Hi")
    settings.RUN_ROWS_DAYS = 1
    assert await on_a_thread(delete_old) == 0
    await SentRequestRow.objects.aupdate(at="2020-01-01T00:00Z")

    assert await on_a_thread(delete_old) == 1
    assert await SentPart.objects.acount() == 0


async def test_nothing_is_kept_where_that_is_switched_off(settings):
    settings.MODEL_REQUESTS = "none"
    async with service(fine()) as running, scene(manifest=TRAVEL) as on:
        await converse(on, running, "Hi")

    assert await SentRequestRow.objects.acount() == 0


async def test_a_request_of_a_conversation_that_is_gone_is_not_stored():
    async with service(fine()) as running, scene(manifest=TRAVEL) as on:
        await converse(on, running, "Hi")
        conversation = await Conversation.objects.aget()
        await sync_to_async(conversation.delete)()

    assert await SentPart.objects.acount() == 0


def asked_by(user: User) -> Run:
    """Return an answer in a conversation of that user, with one request."""
    application = add_application()
    conversation = Conversation.objects.create(
        application=application, owner=f"user-{user.pk}", title="Hi"
    )
    run = run_in(conversation)
    RunSummary.objects.create(
        id=run.pk, door="page", application=run.application, bucket=run.bucket
    )
    messages = [
        {"role": "system", "content": "You sell <b>trips</b>."},
        {"role": "assistant", "content": " ", "tool_calls": [called("7", "search_memories")]},
        {"role": "tool", "tool_call_id": "7", "content": "Ann likes tea."},
    ]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    request = SentRequest("m", body, (PromptSpan("application", "here", 22),), {"search_memories"})
    kept = KeptRequest(run.pk, conversation.pk, application.slug, True, request, 1.0e9)
    sent_requests.write([kept])
    return run


def called(id: str, name: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann")


def test_the_owner_of_an_answer_reads_what_the_model_saw(client, ann):
    run = asked_by(ann)
    client.force_login(ann)

    answer = client.get(f"/answers/{run.pk}/requests/")

    page = answer.text
    assert "You sell &lt;b&gt;trips&lt;/b&gt;." in page
    assert "Ann likes tea." in page
    assert answer["Cache-Control"].startswith("max-age=0")
    assert not AuditEntry.objects.filter(event="contents.read").exists()


def test_nobody_else_reads_it_on_the_page(client, ann, settings):
    run = asked_by(ann)
    client.force_login(User.objects.create_superuser("root"))

    assert client.get(f"/answers/{run.pk}/requests/").status_code == 404

    client.force_login(ann)
    settings.MODEL_REQUESTS_SHOWN = False
    assert client.get(f"/answers/{run.pk}/requests/").status_code == 404


@proves("T-23")
def test_an_operator_with_the_permission_reads_it_and_that_is_in_the_audit(client, ann):
    run = asked_by(ann)
    operator = User.objects.create_user("operator", is_staff=True)
    names = ("view_runsummary", "read_run_contents", "see_all_applications")
    operator.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(operator)

    answer = client.get(f"/admin/runs/runsummary/{run.pk}/requests/")

    page = answer.text
    assert "You sell &lt;b&gt;trips&lt;/b&gt;." in page
    assert "Ann likes tea." not in page
    assert "(14 characters, private)" in page
    assert event_rows() == [("contents.read", f"user-{operator.pk}", "127.0.0.1", run.pk)]


def test_an_operator_without_it_is_refused_and_that_is_in_the_audit(client, ann):
    run = asked_by(ann)
    operator = User.objects.create_user("operator", is_staff=True)
    operator.user_permissions.set(
        Permission.objects.filter(codename__in=("view_runsummary", "see_all_applications"))
    )
    client.force_login(operator)

    assert client.get(f"/admin/runs/runsummary/{run.pk}/requests/").status_code == 403
    assert "What the model saw" not in client.get(f"/admin/runs/runsummary/{run.pk}/change/").text
    assert event_rows() == [("access.denied", f"user-{operator.pk}", "127.0.0.1", run.pk)]


def event_rows() -> list[tuple[Any, ...]]:
    rows = AuditEntry.objects.order_by("pk").values_list("event", "actor", "address", "run")
    return list(rows)


def test_many_requests_of_a_run_are_read_with_two_queries(ann):
    run = asked_by(ann)

    with CaptureQueriesContext(connection) as queries:
        requests_of(run.pk)

    assert len(queries) == 2
