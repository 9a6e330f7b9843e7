"""The account page lists connected programs, and disconnects them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.accounts.models import AuditEntry, Program, ProgramConnection

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

DISCONNECT = "/account/programs/disconnect/"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def connected(user: User, program: str = "editor", slug: str = "") -> Token:
    client, _ = Program.objects.get_or_create(id=program, defaults={"name": "Editor <b>"})
    ProgramConnection.objects.create(user=user, program=client, slug=slug)
    token = Token(
        type="at",
        hash=f"{program} {slug} {user.pk}",
        client=client,
        user=user,
        expires_at=timezone.now() + timedelta(hours=1),
    )
    token.set_resources([f"{settings.PUBLIC_URL}/mcp" + (f"/{slug}" if slug else "")])
    token.save()
    return token


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def test_the_page_shows_the_programs_of_the_user_and_their_applications(ada: User):
    connected(ada, "https://tool.example/client.json", "travel")
    connected(User.objects.create_user("grace"), "of-grace")

    page = signed_in(ada).get("/account/").text

    assert "Connected programs" in page
    assert "Editor &lt;b&gt;" in page
    assert "tool.example · Never used" in page
    assert "Apps: travel" in page
    assert "of-grace" not in page


def test_a_user_without_programs_sees_no_list(ada: User):
    assert "Connected programs" not in signed_in(ada).get("/account/").text


def test_a_user_disconnects_a_program(ada: User):
    connected(ada)
    others = connected(User.objects.create_user("grace"))

    answer = signed_in(ada).post(DISCONNECT, {"program": "editor"}, follow=True)

    assert "The program was disconnected." in answer.text
    assert list(Token.objects.all()) == [others]
    [event] = AuditEntry.objects.filter(event="program.disconnected")
    assert (event.actor, event.subject) == (f"user-{ada.pk}", "Editor <b> (editor)")


def test_a_program_of_another_user_does_not_exist(ada: User):
    connected(User.objects.create_user("grace"))

    assert signed_in(ada).post(DISCONNECT, {"program": "editor"}).status_code == 404
    assert signed_in(ada).post(DISCONNECT, {}).status_code == 404
    assert Token.objects.count() == 1
