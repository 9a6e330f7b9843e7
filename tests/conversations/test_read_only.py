"""Conversations whose application their owner can no longer use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import caller_in
from apps.catalog.actions import archive
from apps.catalog.models import Application, Grant, Role
from apps.catalog.resolve import forget_applications
from apps.chat.rail.content import RailUpdates
from apps.conversations.models import Conversation, Message
from tests.chat.pages.test_views import add_application, add_conversation, listed, visiting
from tests.chat.scripts import open_tab, says

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.usefixtures("storage")]

REST = "You can still read, download or delete this conversation, or continue it in another app."
ARCHIVED = f"The app “Travel” is no longer available. {REST}"
UNAVAILABLE = f"The app “Travel” isn’t available to you. {REST}"


def disable(application: Application) -> None:
    Application.objects.filter(pk=application.pk).update(is_enabled=False)


def make_private(application: Application) -> None:
    Application.objects.filter(pk=application.pk).update(is_public=False, is_shared=False)


@pytest.mark.parametrize(
    ("close", "reason"),
    [(archive.execute, ARCHIVED), (disable, UNAVAILABLE), (make_private, UNAVAILABLE)],
)
def test_its_owner_finds_reads_downloads_renames_and_deletes_it(
    close: Callable[[Application], None], reason: str
) -> None:
    client, application = visiting(), add_application(title="Travel", description="Plans trips")
    conversation = add_conversation(application, client, "Where to?")
    going = add_conversation(add_application(title="Other"), client, "Still going")
    Message.objects.create(conversation=conversation, role="user", text="Where to?")
    Message.objects.create(conversation=conversation, role="assistant", text="To Oslo.")
    address = f"/chat/{application.slug}/{conversation.pk}/"
    close(application)

    start, page, data = client.get("/"), client.get(address), client.get(f"{address}page/")
    rows = listed(page)
    hits = client.get("/conversations/search/?q=Oslo").json()["hits"]
    download = client.get(f"{address}download/")
    renamed = client.post(f"{address}rename/", {"title": "Oslo"})
    deleted = client.post(f"{address}delete/")

    assert [one["title"] for one in start.context["recent"]] == ["Still going"]
    assert start.context["earlier"] == [[conversation]]
    assert f'href="{address}"' in start.text
    assert (page.status_code, page.context["ended"]) == (200, reason)
    assert {one["title"]: one["application"]["ended"] for one in rows} == {
        "Where to?": True,
        going.title: False,
    }
    shown = data.json()["attributes"]
    assert (shown["ended"], shown["title"], shown["description"]) == (reason, "Travel", "")
    assert [one["application"]["ended"] for one in hits] == [True]
    assert "To Oslo." in download.text
    assert (renamed.status_code, deleted.status_code, deleted["Location"]) == (302, 302, "/")
    assert client.get(f"/chat/{application.slug}/").status_code == 302


def test_nobody_else_reads_it() -> None:
    owner, stranger = visiting(), visiting()
    application = add_application(title="Travel")
    conversation = add_conversation(application, owner)
    archive.execute(application)

    page = stranger.get(f"/chat/{application.slug}/{conversation.pk}/")

    assert page.status_code == 302


def test_it_can_be_continued_once_the_application_is_out_of_the_archive() -> None:
    client, application = visiting(), add_application(title="Travel", live_number=1)
    conversation = add_conversation(application, client)
    archive.execute(application)
    archive.undo(application)

    page = client.get(f"/chat/{application.slug}/{conversation.pk}/")

    assert (page.status_code, page.context["ended"]) == (200, "")


async def test_the_socket_shows_it_and_refuses_to_continue() -> None:
    async with open_tab(title="Travel") as (on, tab):
        await tab.exchange("How warm is it?", says("12 degrees"))
        conversation = tab.conversation
        await sync_to_async(archive.execute)(on.application)
        forget_applications()

        again = await on.visitor.tab(on.hub)
        opened = await again.open(conversation)
        refusal = await again.refusal(conversation=conversation)

    assert opened["type"] == "conversation.opened"
    assert (refusal["code"], refusal["text"]) == ("application_unavailable", ARCHIVED)


def test_a_grant_that_was_withdrawn_closes_the_conversations_of_that_person() -> None:
    application = add_application(title="Travel", is_public=False, is_shared=False)
    user = User.objects.create_user("ada")
    grant = Grant.objects.create(application=application, user=user, role=Role.USER)
    conversation = Conversation.objects.create(
        application=application, owner=f"user-{user.pk}", title="Where to?"
    )
    client = Client()
    client.force_login(user)
    address = f"/chat/{application.slug}/{conversation.pk}/"
    before = client.get(address).context["ended"]
    grant.delete()

    page = client.get(address)

    assert (before, page.status_code, page.context["ended"]) == ("", 200, UNAVAILABLE)


def test_open_pages_show_that_it_ended() -> None:
    application, user = add_application(title="Travel"), User.objects.create_user("ada")
    conversation = Conversation.objects.create(
        application=application, owner=f"user-{user.pk}", title="Where to?"
    )
    caller, news = caller_in(user.pk, None), RailUpdates()
    assert told(news.read(caller)) == [False]
    archive.execute(application)
    Conversation.objects.filter(pk=conversation.pk).update(arranged_at=timezone.now())

    changed = news.read(caller)

    assert told(changed) == [True]


def told(news: dict[str, Any] | None) -> list[bool]:
    assert news is not None
    return [row["application"]["ended"] for row in news["conversations"]]
