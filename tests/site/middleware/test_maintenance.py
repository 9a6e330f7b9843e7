"""A read-only site refuses some requests and continues to serve others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from tests.site.house import COMPLETIONS, PATIENCE, QUESTION, House
from tests.sites.websocket import PageSocket, visitor_cookie

pytestmark = pytest.mark.slow("serves a site in a process of its own")


@pytest.fixture
def read_only(house: House) -> Iterator[House]:
    """Another process switches it on."""
    house.site.manage("read_only", "on")
    house.until(lambda: house.ask(COMPLETIONS, QUESTION).status == 503)
    yield house
    house.site.manage("read_only", "off")
    house.until(lambda: house.ask(COMPLETIONS, QUESTION).status == 200)


def test_every_door_refuses_to_write_in_its_own_shape(read_only: House):
    cookie = {"cookie": f"sessionid={read_only.session}"}
    answers = {
        path: read_only.ask(path, body, method, **headers)
        for path, body, method, headers in [
            (COMPLETIONS, QUESTION, "POST", {}),
            ("/v1/chat/completions", {**QUESTION, "model": "demo"}, "POST", {}),
            ("/api/IAIAssistantApi/SubmitMessage", {"application": "demo"}, "POST", {}),
            (f"/v1/files/{read_only.bucket}/a.txt", b"x", "PUT", {}),
            ("/hooks/00000000-0000-4000-8000-000000000000", {}, "POST", {}),
            ("/api/applications/", {}, "POST", cookie),
            ("/settings/", {}, "POST", {**cookie, "accept": "text/html"}),
            ("/admin/catalog/application/add/", {}, "POST", {**cookie, "accept": "text/html"}),
        ]
    }

    told = {
        path: (one.status, one.headers["Retry-After"], one.text) for path, one in answers.items()
    }
    assert {path: one[:2] for path, one in told.items()} == dict.fromkeys(told, (503, "60"))
    assert json.loads(told[COMPLETIONS][2])["error"]["code"] == "read_only"
    submitted = told["/api/IAIAssistantApi/SubmitMessage"][2]
    assert json.loads(submitted)["error"]["code"] == "read_only"
    assert "read-only during maintenance" in json.loads(told["/api/applications/"][2])["detail"]
    assert "read-only during maintenance" in told["/settings/"][2]


def test_reading_works_and_pages_show_a_notice(read_only: House):
    cookie = {"cookie": f"sessionid={read_only.session}"}
    pages = {
        path: read_only.ask(path, **cookie)
        for path in ("/", "/chat/demo/", "/settings/", "/admin/")
    }
    files = read_only.ask(f"/v1/metadata/files/{read_only.bucket}/")

    assert {path: page.status for path, page in pages.items()} == dict.fromkeys(pages, 200)
    shown = {path: page.text for path, page in pages.items()}
    assert [path for path, text in shown.items() if "read-only during maintenance" in text] == [
        "/",
        "/chat/demo/",
        "/settings/",
    ]
    assert files.status == 200


def test_a_tab_is_told_and_its_questions_are_refused(read_only: House):
    site = read_only.site
    page = PageSocket(site.url, "demo", visitor_cookie(site.url, "demo"))
    page.send({"type": "watch"})
    [*_, told] = page.until("read_only.changed")
    page.send(
        {
            "type": "ask",
            "id": "00000000-0000-4000-8000-000000000000",
            "text": "Hello",
            "conversation": None,
        }
    )
    [*_, refused] = page.until("error")
    page.close()

    assert "read-only during maintenance" in told["text"]
    assert (refused["code"], refused["text"]) == ("read_only", told["text"])


LONG = "Tell me about the slow clouds, " + "please, " * 3000
DELETED = """
from datetime import timedelta
from django.utils import timezone
from apps.catalog.models import Application
from apps.conversations.models import Conversation
result = str(Conversation.objects.create(
    application=Application.objects.get(slug="demo"), owner="user-0", title="Old",
    deleted_at=timezone.now() - timedelta(days=1),
).pk)
"""
ENQUEUE = """
from apps.tasks.chore_task import enqueue_chore
enqueue_chore("apps.conversations.keeping.arrangement.erase_deleted")
result = None
"""
IS_THERE = """
from apps.conversations.models import Conversation
result = Conversation.objects.filter(pk=pk).exists()
"""


@pytest.mark.slow("starts a site in a process of its own")
def test_answers_in_progress_finish_and_queued_messages_wait_for_the_end(house: House):
    site = house.site
    page = PageSocket(site.url, "demo", visitor_cookie(site.url, "demo"))
    page.send({"type": "watch"})
    conversation = page.ask(LONG)
    page.until("message.delta")
    queued = {"type": "ask", "id": str(uuid4()), "text": "And then?", "while_running": "queue"}
    page.send({**queued, "conversation": conversation})
    while not (queue := page.until("queue.changed")[-1]["messages"]):  # the first one is empty
        pass

    site.manage("read_only", "on")
    going = site.shell(GOING, conversation=conversation)
    [*_, ended] = page.until("run.status", status="done")
    waits = site.shell(QUEUED, conversation=conversation)
    refused = house.ask(COMPLETIONS, QUESTION)
    site.manage("read_only", "off")
    page.until("run.status", status="done")
    page.close()

    assert [one["text"] for one in queue] == ["And then?"]
    assert ended["status"] == "done"
    assert going == ["running"]
    assert (waits, refused.status) == (["And then?"], 503)
    assert site.shell(QUEUED, conversation=conversation) == []
    house.until(lambda: house.ask(COMPLETIONS, QUESTION).status == 200)


GOING = """
from apps.live.models import Run
result = list(Run.objects.filter(stream=conversation).values_list("status", flat=True))
"""
QUEUED = """
from apps.conversations.models import QueuedMessage
rows = QueuedMessage.objects.filter(conversation=conversation)
result = list(rows.values_list("text", flat=True))
"""


@pytest.mark.slow("starts a site in a process of its own")
def test_an_open_stream_of_a_program_finishes(house: House):
    body = {"messages": [{"role": "user", "content": LONG}], "stream": True}
    headers = {"content-type": "application/json", "api-key": house.key}
    address = f"{house.site.url}{COMPLETIONS}"
    request = Request(address, json.dumps(body).encode(), headers)
    with urlopen(request, timeout=PATIENCE) as stream:
        first = stream.readline()
        house.site.manage("read_only", "on")
        house.until(lambda: house.ask(COMPLETIONS, QUESTION).status == 503)
        rest = stream.read().decode()
    house.site.manage("read_only", "off")
    house.until(lambda: house.ask(COMPLETIONS, QUESTION).status == 200)

    assert first.startswith(b"data: ")
    assert rest.rstrip().endswith("data: [DONE]")
    assert '"finish_reason":"stop"' in rest.replace(" ", "")


@pytest.mark.slow("starts a site in a process of its own")
def test_recurring_jobs_delete_what_is_due(read_only: House):
    pk = read_only.site.shell(DELETED)

    read_only.site.shell(ENQUEUE)

    read_only.until(lambda: not read_only.site.shell(IS_THERE, pk=pk))


def test_a_superuser_ends_it_on_a_page_of_the_admin(read_only: House):
    cookie = f"sessionid={read_only.session}"
    shown = read_only.ask("/admin/read-only/", cookie=cookie)
    text = shown.text
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', text)
    csrf = re.search(r"csrftoken=(\w+)", shown.headers["set-cookie"])
    assert token is not None
    assert csrf is not None

    read_only.ask(
        "/admin/read-only/",
        f"switch=off&csrfmiddlewaretoken={token[1]}".encode(),
        cookie=f"{cookie}; csrftoken={csrf[1]}",
        **{"content-type": "application/x-www-form-urlencoded"},
    )

    assert "The site is read-only." in text
    assert read_only.ask(COMPLETIONS, QUESTION).status == 200
