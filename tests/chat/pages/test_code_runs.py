"""The owner of a conversation runs Python code from an answer."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client, override_settings

from apps.accounts.audit_entry import AuditEntry
from apps.catalog.models import Application
from apps.chat.pages import code_runs
from apps.conversations.models import Conversation, Message
from apps.workspace.local.files import files
from tests.capabilities.interpreter.tools import predefined_tool
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

INTERPRETER: dict[str, Any] = {
    **MANIFEST,
    "tool_sets": [{"type": "internal", "name": "own", "tools": [predefined_tool()]}],
}


@pytest.fixture
def conversation(grace: User) -> Conversation:
    store_application(is_public=True, slug="python", title="Python", manifest=INTERPRETER)
    return own_conversation(grace, "python")


def own_conversation(grace: User, slug: str) -> Conversation:
    row = Application.objects.get(slug=slug)
    return Conversation.objects.create(application=row, owner=f"user-{grace.pk}")


def send(browser: Client, conversation: Conversation, code: str) -> Any:
    slug = conversation.application_slug
    return browser.post(f"/chat/{slug}/{conversation.pk}/run/", {"code": code})


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def test_code_is_run_and_its_output_and_files_are_returned(browser, conversation):
    code = "open('out.csv', 'w').write('a,b')\nprint('hello')\n6 * 7"

    response = send(browser, conversation, code)

    assert response.status_code == 200
    assert response.json() == {
        "is_successful": True,
        "result": "42",
        "stdout": "hello\n",
        "stderr": "",
        "notes": [],
        "files": [
            {
                "name": "out.csv",
                "type": "text/csv",
                "content": base64.b64encode(b"a,b").decode(),
            }
        ],
        "left_out": [],
    }


def test_a_run_is_an_event_of_the_audit_log(browser, grace, conversation):
    send(browser, conversation, "1")

    (event,) = AuditEntry.objects.filter(event="tool.executed")
    assert (event.actor, event.application, event.conversation, event.subject) == (
        f"user-{grace.pk}",
        "python",
        conversation.pk,
        "internal_code_execution_python_interpreter",
    )


def test_the_code_reads_the_files_of_the_conversation_that_it_names(browser, grace, conversation):
    bucket = f"user-{grace.pk}"
    for name in ("sums.csv", "other.csv"):
        path = f"files/{bucket}/conversations/{conversation.pk}/{name}"
        files.keep(bucket, path.removeprefix(f"files/{bucket}/"), b"1,2", "text/csv")
        Message.objects.create(
            conversation=conversation,
            role=Message.Role.USER,
            attachments=[{"url": path, "type": "text/csv", "title": name}],
        )

    read = send(browser, conversation, "open('sums.csv').read()").json()

    assert read["result"] == "'1,2'"


def test_files_that_are_too_large_for_a_response_are_listed(browser, conversation, monkeypatch):
    monkeypatch.setattr(code_runs, "MOST_SHOWN_BYTES", 3)

    told = send(browser, conversation, "open('a.txt', 'w').write('four')").json()

    assert (told["files"], told["left_out"]) == ([], ["a.txt"])


def test_an_error_of_the_code_is_part_of_the_output(browser, conversation):
    told = send(browser, conversation, "1 / 0").json()

    assert told["is_successful"] is False
    assert "ZeroDivisionError" in told["stderr"]


def test_code_is_refused_without_an_interpreter_or_if_it_is_empty_or_too_long(
    browser, grace, conversation
):
    store_application(is_public=True, slug="plain", title="Plain", manifest=MANIFEST)
    plain = own_conversation(grace, "plain")

    assert refusal(send(browser, plain, "1")) == (404, "no_interpreter")
    assert refusal(send(browser, conversation, " \n")) == (400, "empty_code")
    assert refusal(send(browser, conversation, "1" * 64_001)) == (413, "too_long")
    assert browser.get(f"/chat/python/{conversation.pk}/run/").status_code == 405


def test_only_the_owner_can_run_code(conversation):
    mallory = Client()
    mallory.force_login(User.objects.create_user("mallory"))

    assert refusal(send(mallory, conversation, "1")) == (404, "conversation_not_found")
    assert refusal(send(Client(), conversation, "1")) == (404, "conversation_not_found")


def test_code_is_refused_once_the_application_cannot_be_used(browser, conversation):
    Application.objects.update(is_public=False)

    assert send(browser, conversation, "1").status_code == 410


async def test_runs_count_towards_the_rate_limit(grace, conversation):
    client = AsyncClient()
    await client.aforce_login(grace)
    path = f"/chat/python/{conversation.pk}/run/"

    with override_settings(PERSON_REQUESTS_PER_MINUTE=1):
        found = [(await client.post(path, {"code": "1"})).status_code for _ in range(2)]

    assert found == [200, 429]


async def test_code_is_stopped_with_its_request(grace, conversation, monkeypatch):
    started, ended = asyncio.Event(), asyncio.Event()

    async def endless(*given: Any) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(code_runs, "run_user_code", endless)
    client = AsyncClient()
    await client.aforce_login(grace)
    path = f"/chat/python/{conversation.pk}/run/"
    request = asyncio.create_task(client.post(path, {"code": "while True: pass"}))
    async with asyncio.timeout(30):
        await started.wait()
        request.cancel()
        await ended.wait()
        await asyncio.wait([request])

    assert code_runs.running == set()


def test_a_second_run_at_the_same_time_is_refused(browser, grace, conversation):
    code_runs.running.add(f"user-{grace.pk}")

    assert refusal(send(browser, conversation, "1")) == (429, "code_running")


@pytest.mark.parametrize(("manifest", "offered"), [(MANIFEST, ""), (INTERPRETER, "yes")])
def test_the_page_offers_to_run_code_where_the_application_has_an_interpreter(
    browser, manifest, offered
):
    store_application(is_public=True, slug="some", title="Some", manifest=manifest)

    attributes = browser.get("/chat/some/page/").json()["attributes"]

    assert attributes["runs-code"] == offered
