"""Conversations after their application is deleted, recreated and restored."""

from __future__ import annotations

from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.catalog.actions import archive
from apps.catalog.content.installed import installed_content
from apps.catalog.models import Application, OperatorKey
from apps.catalog.resolve import resolve_application
from apps.catalog.resolved_application import prepare_application
from apps.conversations.ask import Ask
from apps.conversations.asking.questions import begin_answer
from apps.conversations.keeping.arrangement import UNDO, erase_deleted
from apps.conversations.models import Conversation, Message
from apps.errors import ApplicationNotFound
from apps.live.models import Run
from apps.workspace.local.models import StoredFile
from tests.catalog.rows import make_deployment, store_application
from tests.chat.pages.test_views import add_application, add_conversation, entries, listed, visiting
from tests.chat.scripts import PATIENCE, open_tab, says, scene, text_of
from tests.console.admin.rows.test_history import change_page, last
from tests.conversations.files.test_files import read, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]


def state(conversation: Conversation) -> tuple[Any, Any, str, str]:
    found = Conversation.objects.get(pk=conversation.pk)
    return (found.application_id, found.former_application, found.former_slug, found.former_title)


def delete_row(application: Application) -> None:
    application.delete()


def delete_rows(application: Application) -> None:
    Application.objects.filter(pk=application.pk).delete()


def delete_through_the_api(application: Application) -> None:
    operator = User.objects.create_superuser("api-operator", "", "a-password-for-tests")
    _, key = OperatorKey.objects.create_key(name="script", user=operator)
    headers = {"Authorization": f"Bearer {key}"}
    url = f"/api/applications/{application.slug}/"
    archived = Client().delete(url, headers=headers)
    erased = Client().post(f"{url}erase/", headers=headers)
    assert (archived.status_code, erased.status_code) == (204, 204)


def delete_in_the_admin(application: Application) -> None:
    archive.execute(application)
    client = Client()
    client.force_login(User.objects.create_superuser("one", "", "a-password-for-tests"))
    page = f"/admin/catalog/application/{application.pk}/delete/"
    assert client.post(page, {"post": "yes"}).status_code == 302


def delete_some_in_the_admin(application: Application) -> None:
    archive.execute(application)
    client = Client()
    client.force_login(User.objects.create_superuser("many", "", "a-password-for-tests"))
    sent = {"action": "delete_selected", "_selected_action": [application.pk], "post": "yes"}
    assert client.post("/admin/catalog/application/", sent).status_code == 302


@pytest.mark.parametrize(
    "delete",
    [
        delete_row,
        delete_rows,
        delete_through_the_api,
        delete_in_the_admin,
        delete_some_in_the_admin,
    ],
)
def test_whichever_way_an_application_is_deleted_its_conversations_stay(delete):
    application, client = add_application(title="Travel"), visiting()
    conversation = add_conversation(application, client)
    other = add_conversation(add_application(), client)
    Message.objects.create(conversation=conversation, role="user", text="Where to?")
    number, slug, kept = application.pk, application.slug, state(other)

    delete(application)

    assert not Application.objects.filter(pk=number).exists()
    assert state(conversation) == (None, number, slug, "Travel")
    assert Message.objects.get().text == "Where to?"
    assert state(other) == kept


def test_what_it_was_called_last_stays_on_the_conversation():
    application, client = add_application(title="Old"), visiting()
    conversation = add_conversation(application, client)
    stale = Application.objects.get(pk=application.pk)
    Application.objects.filter(pk=application.pk).update(title="New")

    stale.delete()

    assert state(conversation)[3] == "New"


def test_the_owner_finds_reads_downloads_and_deletes_it(django_capture_on_commit_callbacks):
    application, client = add_application(title="Travel"), visiting()
    conversation = add_conversation(application, client, "Where to?")
    _, file = send(client, application.slug, conversation=conversation.pk)
    Message.objects.create(conversation=conversation, role="user", text="Where to?")
    Message.objects.create(conversation=conversation, role="assistant", text="To Oslo.")
    address = f"/chat/{application.slug}/{conversation.pk}/"
    application.delete()

    start, page = client.get("/"), client.get(address)
    rows = entries(page)
    download = client.get(f"{address}download/")
    listed = client.get(f"{address}files/").json()["files"]
    renamed = client.post(f"{address}rename/", {"title": "Oslo"})

    assert f'href="{address}"' in start.text
    assert (page.status_code, rows) == (200, [(str(conversation.pk), "Where to?")])
    assert page.context["ended"] == (
        "The app “Travel” is no longer available. You can still read, download or delete this conversation, or "
        "continue it in another app."
    )
    assert "To Oslo." in download.text
    assert [found["name"] for found in listed] == ["weather.csv"]
    assert read(client, f"/{file['url']}")[0] == 200
    assert renamed.status_code == 302

    with django_capture_on_commit_callbacks(execute=True):
        gone = client.post(f"{address}delete/")
        Conversation.objects.update(deleted_at=timezone.now() - UNDO)
        assert erase_deleted() == 1

    assert (gone.status_code, gone["Location"]) == (302, "/")
    assert (Conversation.objects.count(), StoredFile.objects.count()) == (0, 0)


def test_nobody_else_reads_it():
    application, owner, stranger = add_application(), visiting(), visiting()
    conversation = add_conversation(application, owner)
    address = f"/chat/{application.slug}/{conversation.pk}/"
    application.delete()

    statuses = [
        stranger.get(address).status_code,
        stranger.get(f"{address}download/").status_code,
        stranger.get(f"{address}files/").status_code,
        stranger.post(f"{address}rename/", {"title": "Mine"}).status_code,
        stranger.post(f"{address}delete/").status_code,
        owner.get(f"/chat/{application.slug}/").status_code,
        owner.get(f"/chat/other/{conversation.pk}/").status_code,
    ]

    assert statuses == [302, 302, 404, 404, 404, 302, 302]
    assert stranger.get("/").context["earlier"] == []


def test_nothing_is_uploaded_to_it():
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)
    slug = application.slug
    application.delete()

    without, _ = send(client, slug, conversation=conversation.pk)
    add_application(slug=slug)
    with_a_new_one, _ = send(client, slug, conversation=conversation.pk)

    assert (without, with_a_new_one) == (404, 404)
    assert StoredFile.objects.count() == 0


def test_the_start_page_keeps_those_of_one_application_together():
    client = visiting()
    travel, weather = add_application(title="Travel"), add_application(title="Weather")
    for application, title in ((travel, "1"), (weather, "2"), (travel, "3")):
        add_conversation(application, client, title)
    Application.objects.all().delete()

    groups = client.get("/").context["earlier"]

    assert [[(c.former_title, c.title) for c in group] for group in groups] == [
        [("Travel", "3"), ("Travel", "1")],
        [("Weather", "2")],
    ]


def test_a_new_application_of_the_same_name_does_not_inherit_it():
    application, client = add_application(title="Old"), visiting()
    conversation = add_conversation(application, client)
    number, slug = application.pk, application.slug
    application.delete()

    new = add_application(slug=slug, title="New")

    assert state(conversation) == (None, number, slug, "Old")
    [row] = listed(client.get(f"/chat/{slug}/"))
    assert row["application"]["ended"]
    page = client.get(f"/chat/{slug}/{conversation.pk}/")
    assert (page.context["application"].title, bool(page.context["ended"])) == ("Old", True)
    assert new.conversations.count() == 0


def test_restoring_the_row_by_its_number_gives_it_back():
    application, client = add_application(title="Travel"), visiting()
    conversation = add_conversation(application, client)
    number, slug = application.pk, application.slug
    application.delete()
    add_application(slug=slug).delete()

    store_application(pk=number, slug="trips", title="Trips", is_public=True)

    assert state(conversation) == (number, None, "", "")
    assert client.get("/").context["earlier"] == []
    page = client.get(f"/chat/trips/{conversation.pk}/")
    assert (page.status_code, page.context["ended"]) == (200, "")


def test_restoring_it_from_the_history_gives_it_back():
    make_deployment("paced")
    application, visitor = add_application(title="Travel"), visiting()
    conversation = add_conversation(application, visitor)
    number = application.pk
    delete_in_the_admin(application)
    operator = Client()
    operator.force_login(User.objects.get(username="one"))
    address = f"{change_page(last())}restore/before/"

    asked = operator.get(address).text
    operator.post(address, {"seen_version": "0"})
    publish = f"/admin/catalog/application/{number}/versions/publish/"
    operator.post(publish, {"note": "Back", "seen": "1"})

    assert "its conversations can be continued" in asked
    assert state(conversation) == (number, None, "", "")
    page = visitor.get(f"/chat/{application.slug}/{conversation.pk}/")
    assert entries(page) == [(str(conversation.pk), "Hi")]


def test_a_change_of_another_application_gives_nothing_back():
    application, client = add_application(), visiting()
    conversation = add_conversation(application, client)
    other = add_application()
    application.delete()

    other.save()

    assert state(conversation)[0] is None


def test_a_download_has_everything_that_was_said_and_a_name_that_is_safe():
    application, client = add_application(title="Travel"), visiting()
    conversation = add_conversation(application, client, "../Oslo: where?\r\nX-Evil: 1")
    picture = {"type": "image/png", "title": "map.png", "url": "files/b/map.png"}
    for role, text in (("user", "Where?"), ("assistant", "Here.")):
        Message.objects.create(
            conversation=conversation, role=role, text=text, attachments=[picture]
        )

    answer = client.get(f"/chat/{application.slug}/{conversation.pk}/download/")

    written = answer.text
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer["Content-Disposition"].startswith("attachment; filename*=UTF-8''")
    assert "/" not in answer["Content-Disposition"].partition("''")[2]
    lines = [line for line in written.splitlines() if line and not line.startswith("#")]
    assert lines[-4:] == [
        "Where?",
        "- map.png files/b/map.png",
        "Here.",
        "- map.png files/b/map.png",
    ]


# --- The socket -------------------------------------------------------------------------------


async def test_the_socket_shows_it_and_refuses_to_continue():
    async with open_tab(title="Travel") as (on, tab):
        await tab.exchange("How warm is it?", says("12 degrees"))
        conversation = tab.conversation
        await on.application.adelete()

        again = await on.visitor.tab(on.hub)
        opened = await again.open(conversation)
        frames = await again.until_over()
        refusal = await again.refusal(conversation=conversation)

    assert (opened["type"], text_of(frames)) == ("conversation.opened", "12 degrees")
    assert (refusal["type"], refusal["code"]) == ("error", "application_deleted")
    assert refusal["text"].startswith("The app “Travel” is no longer available.")
    assert await Run.objects.acount() == 1


async def test_a_new_application_of_the_same_name_does_not_continue_it():
    async with open_tab() as (on, tab):
        await tab.exchange("How warm is it?", says("12 degrees"))
        slug, manifest = on.application.slug, on.application.manifest
        await on.application.adelete()
        await sync_to_async(store_application)(slug=slug, is_public=True, manifest=manifest)

        refusal = await tab.refusal(conversation=tab.conversation)

    assert refusal["code"] == "application_deleted"
    assert len(on.model.asked) == 1


async def test_an_answer_that_is_being_written_is_ended_and_kept():
    async with open_tab() as (on, tab):
        on.model.put(says("one"))
        await tab.ask("Count.")
        await tab.until("message.delta")

        await on.application.adelete()
        on.model.put(says(" two"), None)
        frames = await tab.until_over()

    assert frames[-1]["status"] == "done"
    stored = await Message.objects.aget(role="assistant")
    assert (stored.text, (await Conversation.objects.aget()).application_id) == ("one two", None)


# --- Two at once ------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
async def test_no_conversation_begins_with_an_application_that_was_just_deleted(monkeypatch):
    """A resolved application is cached for a moment, in which the row may be deleted."""
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 60)
    async with scene() as on:
        await resolve_application(on.application.slug)
        await Application.objects.filter(pk=on.application.pk).adelete()
        refusal = await (await on.visitor.tab(on.hub)).refusal()

    assert refusal["code"] == ApplicationNotFound.code
    assert await Conversation.objects.acount() == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
def test_a_conversation_that_begins_while_the_application_goes_is_not_lost_half():
    """The deletion locks the row. A new conversation waits for its end and is then refused."""
    application = add_application()
    kept = add_conversation(application, visiting())
    outcomes: list[str] = []
    begun = Event()

    def begin_one() -> None:
        begun.set()
        try:
            ask = Ask(id=uuid4(), text="Hi")
            begin_answer(Caller("session-other"), found, ask, "here")
            outcomes.append("begun")
        except ApplicationNotFound:
            outcomes.append("refused")
        finally:
            connection.close()

    number = application.pk
    found = prepare_application(application, installed_content())
    beginning = Thread(target=begin_one)
    with transaction.atomic():
        application.delete()
        beginning.start()
        assert begun.wait(PATIENCE)
    beginning.join(60)

    assert outcomes == ["refused"]
    assert [state(kept)[1]] == [number]
    assert list(Conversation.objects.values_list("pk", flat=True)) == [kept.pk]
