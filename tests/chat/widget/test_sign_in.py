from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.catalog.models import Grant, Role, Widget
from apps.chat.widget.tokens import check_token, read_token
from apps.errors import NotAdmitted
from tests.chat.widget.widgets import SHOP, add_widget, ask_token

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
OURS = "http://testserver"


@pytest.fixture
def widget(grace: User) -> Widget:
    found = add_widget(is_public=False, is_shared=False)
    Grant.objects.create(application=found.application, user=grace, role=Role.USER)
    return found


def address_of(widget: Widget) -> str:
    return f"/widget/{widget.application.slug}/sign-in/"


def code_of(browser: Client, widget: Widget) -> str:
    page = browser.post(address_of(widget)).text
    [code] = re.findall(r'data-code="([^"]+)"', page)
    return str(code)


def is_valid(told: dict[str, Any], widget: Widget) -> bool:
    try:
        check_token(read_token(told["token"]), widget.application.slug, SHOP, OURS)
    except NotAdmitted:
        return False
    return True


def test_a_user_of_this_site_gets_a_token_for_the_widget_alone(
    grace: User, browser: Client, widget: Widget
):
    page = browser.get(address_of(widget))
    code = code_of(browser, widget)

    answer = ask_token(widget, code=code)

    assert "The chat will use your account, grace." in page.text
    assert page.headers["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert answer.status_code == 200
    assert answer.json()["visitor"] == f"user-{grace.pk}"
    assert is_valid(answer.json(), widget)
    assert not is_valid(answer.json(), add_widget())


def test_a_code_is_used_once_and_for_its_widget(browser: Client, widget: Widget):
    code = code_of(browser, widget)
    elsewhere = ask_token(add_widget(), code=code)
    first, again = ask_token(widget, code=code), ask_token(widget, code=code)
    forged = ask_token(widget, code=f"{code}A")

    answers = [elsewhere, first, again, forged]
    assert [one.status_code for one in answers] == [401, 200, 401, 401]


def test_a_token_of_an_account_ends_with_its_session_and_with_its_access(
    grace: User, browser: Client, widget: Widget
):
    first, second = (ask_token(widget, code=code_of(browser, widget)).json() for _ in range(2))
    grant = Grant.objects.get()
    grant.delete()
    without_access = is_valid(first, widget)
    grant.save()
    with_access = is_valid(second, widget)
    browser.logout()

    assert (without_access, with_access) == (False, True)
    assert not is_valid(second, widget)


def test_others_are_asked_to_sign_in_or_cannot_use_the_application(widget: Widget):
    stranger, other = Client(), Client()
    other.force_login(User.objects.create_user("ada"))

    signed_out = stranger.get(address_of(widget)).text
    refused = other.post(address_of(widget)).text

    assert f"/accounts/login/?next={address_of(widget)}%3Fdone" in signed_out
    assert "You can’t use this app with your account." in refused
    assert "data-code" not in signed_out + refused + stranger.post(address_of(widget)).text
