"""Administrators approve sign-ups, and invite users."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Invitation, SignUp, Team
from apps.accounts.sign_up import invitations
from tests.console.pages import browser_of, staff_account

pytestmark = pytest.mark.django_db

WAITING = "/admin/accounts/signup/"
INVITATIONS = "/admin/accounts/invitation/"


@pytest.fixture
def with_mail(settings: Any) -> None:
    settings.SENDS_MAIL = True


@pytest.fixture
def ada() -> User:
    user = User.objects.create_user("ada", "ada@example.org", is_active=False)
    SignUp.objects.create(user=user, needs_confirmation=False, needs_approval=True)
    return user


def act(client: Client, action: str) -> Any:
    chosen = {"action": action, "_selected_action": [each.pk for each in SignUp.objects.all()]}
    return client.post(WAITING, chosen, follow=True)


def invite(client: Client, **fields: Any) -> Any:
    end = timezone.now() + timedelta(days=1)
    when = {"expires_at_0": f"{end:%Y-%m-%d}", "expires_at_1": f"{end:%H:%M:%S}"}
    return client.post(f"{INVITATIONS}add/", {"email": "", **when, **fields}, follow=True)


def operator(*permissions: str, name: str = "clerk") -> Client:
    return browser_of(staff_account(name, *permissions))


def test_an_approved_account_can_be_used_and_its_person_is_told(admin_client, ada, with_mail):
    assert "ada@example.org" in admin_client.get(WAITING).text

    act(admin_client, "approve")

    ada.refresh_from_db()
    assert (ada.is_active, SignUp.objects.exists()) == (True, False)
    [message] = mail.outbox
    assert (message.to, message.subject) == (["ada@example.org"], "Your account is ready")
    assert "http://testserver/accounts/login/" in message.body


def test_a_refused_account_is_gone_and_its_person_is_told(admin_client, ada, with_mail):
    act(admin_client, "refuse")

    assert not User.objects.filter(username="ada").exists()
    [message] = mail.outbox
    assert (message.to, message.subject) == (["ada@example.org"], "Your account was not approved")


def test_an_address_that_nobody_confirmed_is_not_written_to(admin_client, ada, with_mail):
    SignUp.objects.update(needs_confirmation=True)

    act(admin_client, "refuse")

    assert mail.outbox == []


def test_without_mail_nobody_is_told(admin_client, ada):
    act(admin_client, "approve")

    assert mail.outbox == []


def test_who_may_only_look_approves_nobody(ada):
    client = operator("view_signup")

    assert client.get(WAITING).status_code == 200
    act(client, "approve")

    assert SignUp.objects.exists()
    assert operator(name="other").get(WAITING).status_code == 403


def test_the_link_of_an_invitation_is_shown_once(admin_client, settings):
    settings.SIGN_UP = "invitation"

    shown = invite(admin_client)

    found = re.search(r"http://testserver/accounts/invitation/([^/]+)/", shown.text)
    assert found is not None
    assert invitations.find(found[1]) == Invitation.objects.get()
    again = admin_client.get(shown.redirect_chain[-1][0])
    assert (found[1] in again.text, "cannot be shown again" in again.text) == (False, True)
    assert found[1] not in admin_client.get(INVITATIONS).text


def test_where_mail_is_sent_the_link_goes_to_the_address_alone(admin_client, with_mail):
    shown = invite(admin_client, email="Zoe@Example.org")

    [message] = mail.outbox
    assert message.to == ["zoe@example.org"]
    assert "http://testserver/accounts/invitation/" in message.body
    assert "testserver/accounts/invitation/" not in shown.text
    assert Invitation.objects.get().is_sent


def test_a_link_that_could_not_be_sent_is_shown(admin_client, with_mail, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9

    shown = invite(admin_client, email="zoe@example.org")

    assert "The email to zoe@example.org could not be sent." in shown.text
    assert "http://testserver/accounts/invitation/" in shown.text
    assert not Invitation.objects.get().is_sent


def test_where_sign_up_is_closed_the_page_warns(admin_client):
    assert "SIGN_UP is closed" in invite(admin_client).text


def test_an_end_in_the_past_is_refused(admin_client):
    past = {"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}

    assert "This date is in the past. Choose a future date." in invite(admin_client, **past).text
    assert not Invitation.objects.exists()


def test_an_operator_invites_into_no_group_beyond_their_own():
    client = operator("add_invitation", "view_invitation")
    user = User.objects.get()
    mine, theirs = Group.objects.create(name="mine"), Group.objects.create(name="theirs")
    names = ("my-team", "a-team", "left-team")
    team, member, left = (Group.objects.create(name=name) for name in names)
    for administered in (team, left):
        Team.objects.create(group=administered).administrators.add(user)
    Team.objects.create(group=member)
    user.groups.set([mine, member, team])

    refused = [invite(client, groups=[group.pk]).status_code for group in (theirs, member, left)]
    made = invite(client, groups=[mine.pk, team.pk])

    assert refused == [200, 200, 200]
    assert made.status_code == 200
    assert set(Invitation.objects.get().groups.all()) == {mine, team}


def test_an_invitation_of_somebody_else_is_not_shown(admin_client):
    page = invite(admin_client).redirect_chain[-1][0]

    assert operator("add_invitation").get(page).status_code == 404
