from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.catalog.models import Application
from apps.chat.models import PinnedApplication
from apps.conversations.keeping.arrangement import UNDO, erase_deleted
from apps.conversations.models import Conversation, Message
from apps.doors.sessions import session_bucket
from apps.live.models import JournalEntry, Run
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def add_application(**fields: Any) -> Application:
    slug = f"demo-{uuid4().hex[:8]}"
    given = {
        "slug": slug,
        "title": "Demo",
        "is_public": True,
        "is_shared": True,
        "manifest": MANIFEST,
        **fields,
    }
    return store_application(**given)


def add_conversation(application: Application, client: Client, title: str = "Hi") -> Conversation:
    owner = session_bucket(client.session.session_key or "")
    return Conversation.objects.create(application=application, owner=owner, title=title)


def run_in(conversation: Conversation, status: str = "done", **fields: Any) -> Run:
    """Return a run of the conversation, as its process stored it."""
    given = {"application": conversation.application_slug, "bucket": conversation.owner, **fields}
    return Run.objects.create(stream=conversation.pk, request=uuid4(), status=status, **given)


def visiting(path: str = "/feedback/") -> Client:
    """Return a visitor's browser with a session. The requested address renders no page."""
    client = Client()
    assert client.session.session_key
    client.get(path)
    return client


def listed(response: Any) -> list[dict[str, Any]]:
    """Return the rows of the sidebar."""
    rows: list[dict[str, Any]] = response.context["rail"]()["conversations"]
    return rows


def entries(response: Any) -> list[tuple[str, str]]:
    return [(entry["id"], entry["title"]) for entry in listed(response)]


def test_the_list_marks_what_is_answered_what_waits_and_what_is_unread():
    application = add_application()
    client = visiting(f"/chat/{application.slug}/")
    for status in ("queued", "running", "waiting", "done"):
        conversation = add_conversation(application, client, status)
        run_in(conversation, status)
    unread = add_conversation(application, client, "ended")
    Conversation.objects.filter(pk=unread.pk).update(is_unread=True)

    response = client.get(f"/chat/{application.slug}/")

    states = {entry["title"]: entry["state"] for entry in listed(response)}
    assert states == {
        "queued": "running",
        "running": "running",
        "waiting": "waiting",
        "done": "done",
        "ended": "unread",
    }


def test_a_visitor_is_shown_the_public_applications(client):
    public = add_application(title="Public", description="For all")
    add_application(title="Private", is_public=False)
    add_application(title="Off", is_enabled=False)

    response = client.get("/")

    assert list(response.context["applications"]) == [public]
    assert "csrftoken" in response.cookies
    assert "sessionid" not in response.cookies


def test_the_first_page_begins_with_the_application_used_last_else_a_pinned_one_else_the_first():
    first, pinned, used = (add_application(title=title) for title in ("A", "B", "C"))
    client = visiting()

    begun = [client.get("/").context["application"]]
    owner = session_bucket(client.session.session_key or "")
    PinnedApplication.objects.create(owner=owner, application=pinned)
    begun.append(client.get("/").context["application"])
    add_conversation(used, client)
    begun.append(client.get("/").context["application"])

    assert begun == [first, pinned, used]


def test_the_page_gets_what_its_scripts_need(client):
    starters = {
        "intro_text": "Try",
        "auto_submit": False,
        "starters": [{"title": "Oslo", "text": "Weather in Oslo"}],
    }
    application = add_application(manifest={**MANIFEST, "conversation_starters": starters})
    client.get("/")
    old, new = (add_conversation(application, client, title) for title in ("Old", "New"))
    other = add_conversation(add_application(), client, "Of another application")
    Conversation.objects.create(application=application, owner="user-7", title="Foreign")

    response = client.get(f"/chat/{application.slug}/")
    inside = client.get(f"/chat/{application.slug}/{old.pk}/")

    context = response.context
    assert context["application"] == application
    assert context["starters"] == {**starters, "chat_message_input_disabled": False}
    assert entries(response) == [
        (str(other.pk), "Of another application"),
        (str(new.pk), "New"),
        (str(old.pk), "Old"),
    ]
    assert (context["conversation_id"], inside.context["conversation_id"]) == (None, str(old.pk))
    assert context["socket_path"] == f"/ws/chat/{application.slug}/"
    assert context["text_limit"] == 100_000


def test_starters_of_the_old_kind_are_offered_as_well(client):
    application = add_application(manifest={**MANIFEST, "starters": ["Hello?"]})

    response = client.get(f"/chat/{application.slug}/")

    assert response.context["starters"] == {
        "intro_text": "Select an action",
        "auto_submit": True,
        "chat_message_input_disabled": False,
        "starters": [{"title": "Hello?", "text": "Hello?"}],
    }


def test_a_broken_manifest_does_not_break_the_page(client):
    application = add_application(manifest={"orchestrator": 7})

    response = client.get(f"/chat/{application.slug}/")

    assert (response.status_code, response.context["starters"]["starters"]) == (200, [])


def test_a_foreign_conversation_is_not_there():
    application = add_application()
    owner, stranger = visiting(), visiting()
    conversation = add_conversation(application, owner)
    address = f"/chat/{application.slug}/{conversation.pk}/"

    statuses = [
        stranger.get(address).status_code,
        stranger.post(f"{address}rename/", {"title": "Mine"}).status_code,
        stranger.post(f"{address}delete/").status_code,
        stranger.get(f"/chat/{application.slug}/{uuid4()}/").status_code,
        owner.get(f"/chat/{add_application().slug}/{conversation.pk}/").status_code,
        owner.get(address).status_code,
    ]

    assert statuses == [302, 404, 404, 302, 302, 200]
    conversation.refresh_from_db()
    assert conversation.title == "Hi"


def test_a_conversation_gets_another_title():
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)
    address = f"/chat/{application.slug}/{conversation.pk}/"

    response = client.post(f"{address}rename/", {"title": "  Weather\n in Oslo "})

    conversation.refresh_from_db()
    assert (response.status_code, response["Location"]) == (302, address)
    assert conversation.title == "Weather in Oslo"


@pytest.mark.parametrize("title", ["", " \n", "x" * 201])
def test_a_title_that_is_none_is_refused(title):
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)

    response = client.post(f"/chat/{application.slug}/{conversation.pk}/rename/", {"title": title})

    conversation.refresh_from_db()
    assert (response.status_code, conversation.title) == (400, "Hi")
    assert response.content.startswith(b"Enter a title of 1 to 200 characters.")


def add_run(conversation: Conversation) -> None:
    run = run_in(conversation, "running")
    Message.objects.create(conversation=conversation, run=run, role="user", text="Hi")
    JournalEntry.objects.create(
        stream=conversation.pk, run=run.pk, first=1, last=1, events=[{"type": "run.status"}]
    )


def left() -> list[int]:
    return [rows.objects.count() for rows in (Conversation, Message, Run, JournalEntry)]


def test_a_deleted_conversation_leaves_nothing_behind():
    application, client = add_application(), visiting()
    conversation, other = (add_conversation(application, client) for _ in range(2))
    add_run(conversation)
    add_run(other)

    response = client.post(f"/chat/{application.slug}/{conversation.pk}/delete/")
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at=timezone.now() - UNDO)
    erase_deleted()

    assert (response.status_code, response["Location"]) == (302, f"/chat/{application.slug}/")
    assert left() == [1, 1, 1, 1]


def test_changes_need_a_token_and_a_post():
    application = add_application()
    client = Client(enforce_csrf_checks=True)
    client.get("/")
    conversation = add_conversation(application, client)
    address = f"/chat/{application.slug}/{conversation.pk}/"

    statuses = [
        client.post(f"{address}delete/").status_code,
        client.post(f"{address}rename/", {"title": "x"}).status_code,
        client.get(f"{address}delete/").status_code,
        client.post(address).status_code,
    ]

    assert statuses == [403, 403, 405, 403]


def test_what_was_begun_before_signing_in_is_there_afterwards():
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)
    add_run(conversation)
    user = User.objects.create_user("grace", password="long enough")

    client.post("/accounts/login/", {"username": "grace", "password": "long enough"})
    response = client.get(f"/chat/{application.slug}/{conversation.pk}/")

    conversation.refresh_from_db()
    assert (response.status_code, conversation.owner) == (200, f"user-{user.pk}")
    assert Run.objects.get().bucket == f"user-{user.pk}"
    client.logout()
    assert client.get(f"/chat/{application.slug}/{conversation.pk}/").status_code == 302


@pytest.mark.usefixtures("at_noon")
def test_a_session_that_is_used_does_not_expire():
    client = visiting()
    session = client.session
    session["seen"] = "2020-01-01"
    session.save()

    client.get("/")
    seen = client.session["seen"]
    again = client.get("/")

    assert seen == timezone.now().date().isoformat()
    assert "sessionid" not in again.cookies


def test_who_can_edit_an_application_gets_to_its_studio():
    application, client = add_application(), Client()
    told = {}
    for user in (
        User.objects.create_user("grace"),
        User.objects.create_user("staff", is_staff=True),
        User.objects.create_superuser("root"),
    ):
        client.force_login(user)
        page = client.get(f"/chat/{application.slug}/page/").json()
        told[user.username] = page["attributes"]["studio"]

    studio = f"/admin/catalog/application/{application.pk}/studio/"
    assert told == {"grace": "", "staff": "", "root": studio}


def test_pages_ask_the_database_a_bounded_number_of_questions(django_assert_max_num_queries):
    application, client = add_application(), visiting()
    for number in range(30):
        add_conversation(application, client, f"Number {number}")
        add_application()
    client.get(f"/chat/{application.slug}/")

    with django_assert_max_num_queries(15):
        client.get("/")
    # One of these renews the applications' cache, if more than a second has passed.
    with django_assert_max_num_queries(14):
        client.get(f"/chat/{application.slug}/")


def test_the_page_loads_the_scripts_of_the_site_and_no_others(settings):
    application = add_application()
    own = "https://shop.example.com/tools.js?a=1&b=2"
    before = visiting().get(f"/chat/{application.slug}/")
    settings.CHAT_SCRIPTS = [own]

    response = visiting().get(f"/chat/{application.slug}/")

    policy = response.headers["Content-Security-Policy"]
    [nonce] = set(re.findall("'nonce-([^']+)'", policy))
    written = own.replace("&", "&amp;")
    assert f'<script defer src="{written}" nonce="{nonce}"></script>' in response.text
    assert "nonce-" not in before.headers["Content-Security-Policy"]
