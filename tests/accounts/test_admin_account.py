from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def printed(*arguments: str) -> str:
    output = StringIO()
    call_command("admin_account", *arguments, stdout=output)
    return output.getvalue()


def password_in(text: str) -> str:
    return text.split("Password: ")[1].splitlines()[0]


def test_the_first_call_creates_an_administrator_and_shows_the_password():
    text = printed()

    admin = User.objects.get()
    assert (admin.username, admin.is_staff, admin.is_superuser) == ("admin", True, True)
    assert admin.check_password(password_in(text))


def test_the_second_call_says_and_changes_nothing():
    before = password_in(printed())

    assert printed() == ""
    assert User.objects.get().check_password(before)


def test_an_installation_with_another_administrator_gets_none():
    User.objects.create_superuser("grace")

    assert printed() == ""
    assert not User.objects.filter(username="admin").exists()


def test_a_new_password_replaces_the_old_one():
    before = password_in(printed())
    after = password_in(printed("--new-password"))

    admin = User.objects.get()
    assert (admin.check_password(before), admin.check_password(after)) == (False, True)
