"""The forms for users speak of passwords as the rest of the admin does."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.console.pages import words

pytestmark = pytest.mark.django_db

USERS = "/admin/auth/user/"


def test_a_new_user_gets_a_password_whose_rules_are_on_the_form(admin_client):
    shown = words(admin_client.get(f"{USERS}add/"))
    typed = {"username": "grace", "usable_password": "true"}
    admin_client.post(
        f"{USERS}add/", {**typed, "password1": "sun-and-rain", "password2": "sun-and-rain"}
    )

    assert "At least 8 characters" in shown
    assert "Confirm password" in shown
    assert "authenticate" not in shown
    assert User.objects.get(username="grace").check_password("sun-and-rain")


def test_a_user_may_be_without_a_password(admin_client):
    admin_client.post(f"{USERS}add/", {"username": "grace", "usable_password": "false"})

    grace = User.objects.get(username="grace")
    assert not grace.has_usable_password()
    assert "The user has no password. Set a password" in words(
        admin_client.get(f"{USERS}{grace.pk}/change/")
    )


def test_the_password_of_a_user_is_set_on_a_page_of_its_own(admin_client, admin_user):
    grace = User.objects.create_user("grace", password="wind-and-snow")

    listed = words(admin_client.get(f"{USERS}{grace.pk}/change/"))
    admin_client.post(
        f"{USERS}{grace.pk}/password/", {"password1": "sun-and-rain", "password2": "sun-and-rain"}
    )

    grace.refresh_from_db()
    assert "Passwords are stored only as hashes. Set a new password" in listed
    assert grace.check_password("sun-and-rain")
