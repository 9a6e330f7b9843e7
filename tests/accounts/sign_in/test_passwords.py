"""Users change their passwords and addresses, and reset a password by mail if mail is configured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.conf import settings
from django.contrib.auth.models import User
from django.core import mail
from django.template.loader import render_to_string
from django.test import Client
from django.urls import URLResolver, get_resolver

pytestmark = pytest.mark.django_db

OLD, NEW = "a-password-for-tests", "another-password-for-tests"
ADDRESS = "grace@example.org"
RESET = "/accounts/password/reset/"


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace", ADDRESS, OLD)


@pytest.fixture
def client_of_grace(grace: User) -> Client:
    client = Client()
    client.force_login(grace)
    return client


def sign_in(password: str) -> int:
    typed = {"username": "grace", "password": password}
    return int(Client().post("/accounts/login/", typed).status_code)


def link_in(message: Any) -> str:
    found = re.search(r"http://testserver(/\S+)", message.body)
    assert found is not None, message.body
    return found[1]


def reset_by(link: str) -> Any:
    client = Client()
    form = client.get(link, follow=True)
    path = form.redirect_chain[-1][0]
    return client.post(path, {"password1": NEW, "password2": NEW})


def test_a_password_is_changed_by_who_knows_the_old_one(client_of_grace):
    page = "/accounts/password/change/"
    other = Client()
    other.force_login(User.objects.get())

    wrong = client_of_grace.post(page, {"oldpassword": NEW, "password1": NEW, "password2": NEW})
    assert (wrong.status_code, sign_in(OLD)) == (200, 302)
    right = client_of_grace.post(page, {"oldpassword": OLD, "password1": NEW, "password2": NEW})

    assert (right.status_code, sign_in(NEW)) == (302, 302)
    assert "grace" in client_of_grace.get("/").text
    assert "grace" not in other.get("/").text  # other devices are signed out


def test_the_page_is_not_for_visitors():
    for page in ("password/change/", "password/set/"):
        answer = Client().get(f"/accounts/{page}")
        assert answer["Location"] == f"/accounts/login/?next=/accounts/{page}"


def test_a_password_is_reset_once_by_a_link_in_a_message(grace, with_mail):
    assert Client().post(RESET, {"email": ADDRESS}).status_code == 302
    [message] = mail.outbox
    assert message.to == [ADDRESS]
    link = link_in(message)

    assert reset_by(link).status_code == 302

    assert (sign_in(OLD), sign_in(NEW)) == (200, 302)
    used = Client().get(link, follow=True).text
    assert "This link is invalid, was already used or has expired." in used


def test_the_pages_of_a_reset_say_what_comes_next(with_mail):
    client = Client()

    form = client.get(RESET).text
    sent = client.post(RESET, {"email": ADDRESS}, follow=True).text

    assert "We’ll send you a link for setting a new password." in form
    assert "Follow the link in it to set a new password." in sent
    assert "contact us" not in form + sent


def test_who_failed_too_often_may_sign_in_after_a_reset(grace, with_mail):
    EmailAddress.objects.create(user=grace, email=ADDRESS, verified=True, primary=True)
    assert [sign_in("wrong") for _ in range(6)] == [200] * 5 + [429]
    Client().post(RESET, {"email": ADDRESS})

    reset_by(link_in(mail.outbox[0]))

    assert sign_in(NEW) == 302


def test_nobody_learns_by_a_reset_whose_addresses_have_accounts(grace, with_mail):
    def ask(address: str) -> tuple[int, str]:
        answer = Client().post(RESET, {"email": address})
        return answer.status_code, answer["Location"]

    assert ask(ADDRESS) == ask("nobody@example.org")

    assert [message.to for message in mail.outbox] == [[ADDRESS], ["nobody@example.org"]]
    assert "but no account uses this address." in mail.outbox[1].body
    assert "http" not in mail.outbox[1].body


def test_an_inactive_account_is_reset_by_nobody(grace, with_mail):
    User.objects.update(is_active=False)

    Client().post(RESET, {"email": ADDRESS})

    assert "but no account uses this address." in mail.outbox[0].body


@pytest.mark.parametrize("page", [RESET, "/accounts/email/"])
def test_without_mail_the_pages_say_why_they_are_of_no_use(client_of_grace, page):
    answers = [client_of_grace.get(page), client_of_grace.post(page, {"email": ADDRESS})]

    for answer in answers:
        assert (answer.status_code, "This installation can’t send email" in answer.text) == (
            200,
            True,
        )
    assert mail.outbox == []


@pytest.mark.parametrize("sends", [True, False])
def test_links_to_pages_that_need_mail_are_shown_only_with_mail(client_of_grace, settings, sends):
    settings.SENDS_MAIL = sends
    account, entrance = client_of_grace.get("/account/").text, Client().get("/accounts/login/").text

    assert ('href="/accounts/email/"' in account, f'href="{RESET}"' in entrance) == (sends, sends)
    assert ("ask an administrator for a new one" in entrance) is not sends


def test_without_mail_the_pages_lead_back_to_the_account_or_the_sign_in(client_of_grace):
    signed_in, visitor = (one.get(RESET).text for one in (client_of_grace, Client()))

    assert ("Back to your account" in signed_in, "Back to sign-in" in signed_in) == (True, False)
    assert ("Back to your account" in visitor, "Back to sign-in" in visitor) == (False, True)


def confirm_who_it_is(client: Client) -> None:
    answer = client.post("/accounts/reauthenticate/", {"password": OLD})
    assert answer.status_code == 302


def test_a_new_address_wants_the_password_again(client_of_grace, with_mail):
    """The owner of the address can reset the password."""
    form = {"email": "mallory@example.org", "action_add": ""}

    asked = client_of_grace.post("/accounts/email/", form)

    assert asked["Location"] == "/accounts/reauthenticate/?next=%2Faccounts%2Femail%2F"
    assert mail.outbox == []
    assert not EmailAddress.objects.filter(email="mallory@example.org").exists()


def test_an_address_is_changed_when_the_new_one_is_confirmed(client_of_grace, grace, with_mail):
    page = "/accounts/email/"
    confirm_who_it_is(client_of_grace)

    client_of_grace.post(page, {"email": "new@example.org", "action_add": ""})
    grace.refresh_from_db()
    assert grace.email == ADDRESS
    assert "new@example.org" in client_of_grace.get(page).text
    client_of_grace.post(link_in(mail.outbox[0]))

    grace.refresh_from_db()
    assert grace.email == "new@example.org"


def test_the_confirmed_address_of_somebody_else_cannot_be_taken(client_of_grace, grace, with_mail):
    other = User.objects.create_user("other", "other@example.org")
    EmailAddress.objects.create(user=other, email=other.email, verified=True, primary=True)
    confirm_who_it_is(client_of_grace)

    client_of_grace.post("/accounts/email/", {"email": other.email, "action_add": ""})
    for message in mail.outbox:
        if "confirm-email" in message.body:
            client_of_grace.post(link_in(message))

    grace.refresh_from_db()
    assert grace.email == ADDRESS


@pytest.mark.parametrize("page", ["verification_sent", "verified_email_required"])
def test_pages_about_the_confirmation_of_an_address_name_who_helps(rf, grace, page):
    request = rf.get("/")
    request.user, request.session = grace, {}

    shown = render_to_string(f"account/{page}.html", request=request)

    assert "Confirm your email address" in shown
    assert "ask an administrator" in shown
    assert "contact us" not in shown


FRAME = 'id="sidebar"'


@pytest.mark.parametrize(
    "page",
    [
        "cancelled/",
        "confirm-email/",
        "confirm-email/no:such:key/",
        "password/reset/",
        "password/reset/done/",
        "password/reset/key/1-none/",
        "password/reset/key/done/",
    ],
)
def test_pages_for_everyone_show_the_rail_to_signed_in_users_only(client_of_grace, with_mail, page):
    seen = [one.get(f"/accounts/{page}") for one in (client_of_grace, Client())]

    assert [(answer.status_code, FRAME in answer.text) for answer in seen] == [
        (200, True),
        (200, False),
    ]
    assert ["Back to your account" in answer.text for answer in seen] == [True, False]


def test_the_page_that_asks_for_the_password_again_shows_the_rail(client_of_grace):
    page = client_of_grace.get("/accounts/reauthenticate/").text

    assert FRAME in page
    assert "<h1>Confirm that it’s you</h1>" in page


def test_a_link_confirms_an_address_after_a_page_that_names_the_account(grace, with_mail):
    address = EmailAddress.objects.create(user=grace, email="new@example.org")
    page = f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/"

    shown = Client().get(page).text
    Client().post(page)

    address.refresh_from_db()
    named = "<strong>new@example.org</strong> is the email address of the account <bdi>grace</bdi>."
    assert (named in shown, address.verified) == (True, True)


def test_a_link_for_the_address_of_another_account_confirms_nothing(grace, with_mail):
    other = User.objects.create_user("other")
    address = EmailAddress.objects.create(user=other, email=ADDRESS)
    EmailAddress.objects.create(user=grace, email=ADDRESS, verified=True, primary=True)

    shown = Client().get(f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/").text

    assert f"<strong>{ADDRESS}</strong> is already the email address of another account." in shown
    assert '<button class="button primary">' not in shown


def views(patterns: Any) -> Iterator[Any]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns)
        else:
            yield getattr(pattern.callback, "view_class", None)


def test_no_page_has_a_template_of_the_library():
    """The first pattern of a path answers, so later ones of allauth are unused."""
    unused = {
        "account/confirm_login_code.html",  # There is no sign-in with codes.
        "account/login.html",
        "mfa/index.html",
        "mfa/webauthn/authenticator_list.html",
    }
    names = {
        str(getattr(view, "template_name", ""))
        for view in views(get_resolver().url_patterns)
        if view is not None and view.__module__.startswith("allauth.")
    }
    ours = settings.BASE_DIR / "templates"

    pages = {name for name in names if name.endswith(".html")}

    assert {name for name in pages if not (ours / name).exists()} == unused
