"""Operators place legal holds with a reason, and lift them; both are in the audit log."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.caller import bucket_of
from apps.accounts.legal_holds import is_held
from apps.accounts.models import AuditEntry, LegalHold
from apps.conversations.models import Conversation
from tests.catalog.rows import make_operator
from tests.chat.pages.test_views import add_application
from tests.console.pages import browser_of, staff, words

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/admin/accounts/legalhold/"


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace", first_name="Grace", last_name="Hopper")


def place(client: Client, **fields: Any) -> Any:
    return client.post(f"{PAGE}add/", {"reason": "Case 7", **fields})


def lift(client: Client, row: LegalHold) -> Any:
    return client.post(PAGE, {"action": "lift", "_selected_action": [row.pk]}, follow=True)


def events() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(event__startswith="hold.").order_by("pk")
    return [(row.event, row.actor, row.subject) for row in rows]


def test_a_user_is_put_on_hold_and_released(grace: User):
    operator = make_operator("boss")
    admin_client, by, mine = browser_of(operator), bucket_of(operator.pk), bucket_of(grace.pk)

    place(admin_client, user=grace.pk)
    row = LegalHold.objects.get()
    listed = words(admin_client.get(PAGE))
    held = is_held(mine)
    twice = place(admin_client, user=grace.pk)
    lifted = lift(admin_client, row)

    row.refresh_from_db()
    assert "Grace Hopper" in listed
    assert "Case 7" in listed
    assert (held, is_held(mine)) == (True, False)
    assert "This data is already under an active hold." in twice.text
    assert "Holds lifted: 1." in lifted.text
    assert (row.owner, row.user, row.placed_by, row.lifted_by) == (mine, None, by, by)
    assert events() == [("hold.placed", by, mine), ("hold.lifted", by, mine)]


def test_a_conversation_is_put_on_hold_and_protects_the_account_of_its_owner(
    admin_client: Client, grace: User
):
    mine = f"{bucket_of(grace.pk)}-team-3"
    row = Conversation.objects.create(application=add_application(), owner=mine, title="Mine")

    place(admin_client, conversation=row.pk)
    refused = admin_client.post(f"/admin/auth/user/{grace.pk}/delete/", {"post": "yes"})

    hold = LegalHold.objects.get()
    assert (hold.user, hold.owner, hold.conversation) == (grace, mine, row.pk)
    assert (is_held(mine), is_held(mine, row.pk)) == (False, True)
    assert User.objects.filter(pk=grace.pk).exists()
    assert refused.status_code in (200, 403)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "Choose a user, or enter the ID of a conversation."),
        ({"conversation": str(uuid4())}, "There is no conversation with this ID."),
        ({"conversation": "none"}, "valid UUID"),
    ],
)
def test_impossible_holds_are_refused(admin_client: Client, fields: dict[str, str], problem: str):
    assert problem in place(admin_client, **fields).text
    assert not LegalHold.objects.exists()


@pytest.mark.parametrize(("words", "count"), [("grace", 1), ("Case 7", 1), ("none", 0)])
def test_a_hold_is_found_by_its_user_and_reason(grace: User, words: str, count: int):
    LegalHold.objects.create(user=grace, owner=bucket_of(grace.pk), reason="Case 7")

    listed = staff("view_legalhold").get(PAGE, {"q": words})

    assert len(listed.context["cl"].result_list) == count


def test_a_viewer_neither_places_nor_lifts_holds(grace: User):
    row = LegalHold.objects.create(user=grace, owner=bucket_of(grace.pk), reason="Case 7")
    client = staff("view_legalhold")

    assert client.get(PAGE).status_code == 200
    assert client.get(f"{PAGE}add/").status_code == 403
    lift(client, row)
    row.refresh_from_db()
    assert row.lifted_at is None
