"""An installation can limit sign-in to identity providers."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client

pytestmark = pytest.mark.django_db

PASSWORD = "a-password-for-tests"


@pytest.fixture(autouse=True)
def passwords_are_not_enough(settings: Any) -> None:
    settings.PASSWORD_SIGN_IN = False


def sign_in(name: str) -> int:
    typed = {"username": name, "password": PASSWORD}
    return Client().post("/accounts/login/", typed).status_code


def test_a_password_signs_in_superusers_alone():
    User.objects.create_user("grace", password=PASSWORD, is_staff=True)
    User.objects.create_superuser("root", password=PASSWORD)

    assert [sign_in("grace"), sign_in("root")] == [200, 302]


def test_whoever_has_a_password_still_confirms_with_it_who_they_are():
    client = Client()
    client.force_login(User.objects.create_user("grace", password=PASSWORD))
    page = "/accounts/reauthenticate/?next=/account/"

    wrong, right = (client.post(page, {"password": word}) for word in ("other", PASSWORD))

    assert (wrong.status_code, right.status_code) == (200, 302)
    assert right["Location"] == "/account/"


def test_the_form_is_folded_away():
    page = Client().get("/accounts/login/").text

    assert "<summary>Sign in as an administrator</summary>" in page


def test_the_last_linked_account_stays_unless_a_password_is_enough():
    adapter = get_adapter()
    for name, is_superuser in (("grace", False), ("root", True)):
        user = User.objects.create_user(name, password=PASSWORD, is_superuser=is_superuser)
        SocialAccount.objects.create(user=user, provider="company", uid=name)
    grace, root = SocialAccount.objects.order_by("pk")

    with pytest.raises(ValidationError, match="the only way to sign in"):
        adapter.validate_disconnect(grace, SocialAccount.objects.filter(user=grace.user))
    adapter.validate_disconnect(root, SocialAccount.objects.filter(user=root.user))
