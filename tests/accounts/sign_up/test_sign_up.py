"""Users sign up as SIGN_UP allows, and nobody learns which addresses have accounts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group, User
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import Invitation, SignUp
from apps.accounts.secret_tokens import hash_of
from apps.accounts.sign_up import invitations, sign_up

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/accounts/signup/"
WAITING = "/accounts/signup/waiting/"
PASSWORD = "a-password-for-tests"
ADDRESS = "ada@example.org"
TOKEN = "token-of-a-test"


def post(client: Client | None = None, **fields: str) -> Any:
    typed = {"username": "ada", "email": ADDRESS, "password1": PASSWORD, **fields}
    return (client or Client()).post(PAGE, typed)


def sign_in(name: str = "ada") -> int:
    typed = {"username": name, "password": PASSWORD}
    return int(Client().post("/accounts/login/", typed).status_code)


def link_in(message: Any) -> str:
    found = re.search(r"http://testserver(/\S+)", message.body)
    assert found is not None, message.body
    return found[1]


def invite(**fields: Any) -> Invitation:
    host = User.objects.create_user("host")
    return Invitation.objects.create(token_hash=hash_of(TOKEN), created_by=host, **fields)


def follow(client: Client, token: str = TOKEN) -> Any:
    return client.get(f"/accounts/invitation/{token}/")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("closed", "Only administrators can create accounts"),
        ("invitation", "Sign-up is by invitation only"),
    ],
)
def test_where_strangers_may_not_sign_up_a_plain_sentence_says_so(settings, setting, told):
    settings.SIGN_UP = setting

    answers = [Client().get(PAGE), post()]

    assert [(each.status_code, told in each.text) for each in answers] == [(404, True)] * 2
    assert not User.objects.exists()
    assert "Create one" not in Client().get("/accounts/login/").text


def test_without_mail_an_open_installation_lets_people_in_at_once(settings):
    settings.SIGN_UP = "open"
    client = Client()

    answer = post(client)

    ada = User.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.session[SESSION_KEY] == str(ada.pk)
    assert (ada.email, ada.is_active, ada.is_staff) == (ADDRESS, True, False)
    assert not EmailAddress.objects.get().verified
    assert "Create one" in Client().get("/accounts/login/").text


def test_with_mail_the_address_is_confirmed_first(settings, with_mail):
    settings.SIGN_UP = "open"

    answer = post()

    assert (answer.status_code, answer["Location"]) == (302, WAITING)
    assert (sign_in(), SignUp.objects.count()) == (200, 1)
    [message] = mail.outbox
    assert (message.to, message.subject) == ([ADDRESS], "Confirm your email address")
    link = link_in(message)
    assert "Confirm" in Client().get(link).text
    assert not User.objects.get().is_active  # a link scanner confirms nothing

    confirmed = Client().post(link)

    assert (confirmed.status_code, confirmed["Location"]) == (302, "/accounts/login/")
    assert (sign_in(), SignUp.objects.count()) == (302, 0)
    assert EmailAddress.objects.get().verified


def test_nobody_learns_by_signing_up_that_an_address_has_an_account(settings, with_mail):
    settings.SIGN_UP = "open"
    grace = User.objects.create_user("grace", ADDRESS, PASSWORD)
    free, taken = Client(), Client()

    answers = [post(free, email="free@example.org"), post(taken, username="other")]

    assert {(each.status_code, each["Location"]) for each in answers} == {(302, WAITING)}
    pages = [
        client.get(WAITING).text.replace(address, "")
        for client, address in ((free, "free@example.org"), (taken, ADDRESS))
    ]
    assert without_nonces(pages[0]) == without_nonces(pages[1])
    assert set(User.objects.values_list("username", flat=True)) == {"grace", "ada"}
    told = [message for message in mail.outbox if message.to == [ADDRESS]]
    assert "an account using that email address already exists" in told[0].body
    grace.refresh_from_db()
    assert grace.is_active


def without_nonces(page: str) -> str:
    return re.sub(r'nonce="[^"]*"|csrfmiddlewaretoken" value="[^"]*"', "", page)


def test_an_address_that_somebody_else_only_wrote_down_stays_free(settings, with_mail):
    settings.SIGN_UP = "open"
    post(username="mallory")
    cache.clear()

    post()
    Client().post(link_in(mail.outbox[-1]))

    active = User.objects.filter(is_active=True).values_list("username", flat=True)
    assert list(active) == ["ada"]
    Client().post(link_in(mail.outbox[0]))
    assert list(active) == ["ada"]


def test_an_account_waits_for_the_approval_and_for_the_address(settings, with_mail):
    settings.SIGN_UP = "approval"
    client = Client()

    post(client)

    assert "An administrator will then review your account" in squeezed(client.get(WAITING).text)
    assert Client().post(link_in(mail.outbox[0])).status_code == 302
    waiting = SignUp.objects.get()
    assert (waiting.needs_confirmation, waiting.needs_approval) == (False, True)
    assert sign_in() == 200
    assert sign_up.approve(waiting.user) is None
    assert sign_in() == 302


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_an_approved_account_whose_address_is_not_confirmed_waits_on(settings, with_mail):
    settings.SIGN_UP = "approval"
    post()

    left = sign_up.approve(User.objects.get())

    assert left is not None
    assert (left.needs_confirmation, left.needs_approval) == (True, False)
    assert sign_in() == 200


def test_without_mail_the_approval_alone_is_missing(settings):
    settings.SIGN_UP = "approval"

    answer = post()

    assert answer["Location"] == WAITING
    assert sign_in() == 200
    sign_up.approve(User.objects.get())
    assert sign_in() == 302


@pytest.mark.parametrize("setting", ["invitation", "approval", "open"])
def test_an_invitation_lets_one_person_in_with_its_roles(settings, setting):
    settings.SIGN_UP = setting
    editors = Group.objects.create(name="editors")
    invite().groups.add(editors)
    client = Client()

    followed = follow(client)
    assert (followed.status_code, followed["Location"]) == (302, PAGE)
    assert post(client).status_code == 302

    ada = User.objects.exclude(username="host").get()
    assert (ada.is_active, list(ada.groups.all())) == (True, [editors])
    used = Invitation.objects.get()
    assert (used.used_by, used.used_at is not None) == (ada, True)
    again = follow(Client())
    told = "Sign-up is by invitation only" if setting == "invitation" else "can’t be used"
    assert (again.status_code, told in again.text) == (404, True)


def test_an_invitation_opens_nothing_where_sign_up_is_closed(settings):
    settings.SIGN_UP = "closed"
    invite()

    answer = follow(Client())

    assert (answer.status_code, "Only administrators can create accounts" in answer.text) == (
        404,
        True,
    )


@pytest.mark.parametrize("is_deleted", [False, True])
def test_nobody_comes_back_by_an_invitation_of_their_own_when_their_account_is_closed(
    settings, is_deleted
):
    settings.SIGN_UP = "invitation"
    found, client = invite(), Client()
    follow(client)

    if is_deleted:
        User.objects.all().delete()
    else:
        User.objects.update(is_active=False)

    assert (follow(Client()).status_code, post(client).status_code) == (404, 404)
    with pytest.raises(invitations.UsedUp):
        invitations.use(found, User.objects.create_user("ada"))


def test_an_old_invitation_and_a_wrong_one_look_alike(settings):
    settings.SIGN_UP = "invitation"
    invite(expires_at=timezone.now() - timedelta(seconds=1))

    old, wrong = follow(Client()), follow(Client(), "guessed")

    assert (old.status_code, wrong.status_code) == (404, 404)
    assert without_nonces(old.text) == without_nonces(wrong.text)


def test_of_two_who_use_an_invitation_at_once_one_gets_in(settings):
    settings.SIGN_UP = "invitation"
    found = invite()
    first, second = (User.objects.create_user(name) for name in ("first", "second"))

    invitations.use(found, first)
    with pytest.raises(invitations.UsedUp):
        invitations.use(found, second)

    assert Invitation.objects.get().used_by == first


def test_an_invitation_that_was_used_meanwhile_makes_no_account(settings):
    settings.SIGN_UP = "invitation"
    found, client = invite(), Client()
    follow(client)
    view_of_it = invitations.find(TOKEN)
    Invitation.objects.filter(pk=found.pk).update(used_at=timezone.now())

    assert view_of_it == found
    assert post(client).status_code == 404
    assert not User.objects.exclude(username="host").exists()


def test_whoever_was_invited_by_mail_has_confirmed_the_address_by_coming(settings, with_mail):
    settings.SIGN_UP = "invitation"
    invite(email=ADDRESS, is_sent=True)
    client = Client()
    follow(client)

    post(client, email="other@example.org")

    ada = User.objects.exclude(username="host").get()
    assert (ada.email, ada.is_active) == (ADDRESS, True)
    assert EmailAddress.objects.get().verified
    assert mail.outbox == []


def test_a_token_is_kept_as_a_hash_alone(settings):
    settings.SIGN_UP = "invitation"
    invite()

    with CaptureQueriesContext(connection) as queries:
        follow(Client())

    assert TOKEN not in " ".join(query["sql"] for query in queries if "session" not in query["sql"])
    assert TOKEN not in Invitation.objects.get().token_hash


def test_a_mail_server_that_is_away_leaves_no_account_behind(settings, with_mail, monkeypatch):
    settings.SIGN_UP = "open"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9

    answer = post()

    assert "The email could not be sent to your address." in answer.text
    assert not User.objects.exists()


def test_a_name_that_is_taken_is_said_beside_its_field(settings):
    settings.SIGN_UP = "open"
    User.objects.create_user("ada")

    answer = post()

    assert "A user with that username already exists." in answer.text


def test_an_address_signs_up_twenty_times_a_minute_at_most(settings):
    settings.SIGN_UP = "open"
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "signup": "3/m/ip"}

    answers = [post(username=f"name-{number}", email="").status_code for number in range(4)]

    assert answers == [200, 200, 200, 429]


def test_accounts_that_nobody_confirms_are_deleted_after_three_days(settings, with_mail):
    settings.SIGN_UP = "open"
    with time_machine.travel(timezone.now() - timedelta(days=4)):
        post()
    cache.clear()
    post(username="late", email="late@example.org")
    User.objects.create_user("idle", is_active=False)

    assert sign_up.delete_unconfirmed() == 1

    assert set(User.objects.values_list("username", flat=True)) == {"late", "idle"}
