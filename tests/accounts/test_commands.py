"""Commands that create keys and the account of an administrator."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from typing import cast

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from apps.accounts.models import ApiKey, AuditEntry
from tests.catalog.rows import store_application

pytestmark = pytest.mark.django_db


def find(key: str) -> ApiKey:
    return cast(ApiKey, ApiKey.objects.get_from_key(key))


def create(*arguments):
    output = StringIO()
    call_command("create_api_key", *arguments, stdout=output, stderr=StringIO())
    return output.getvalue().strip()


def test_the_key_is_printed_and_kept_as_a_hash():
    key = create("robot")

    row = find(key)
    assert (row.name, row.is_limited, row.expiry_date) == ("robot", False, None)
    assert key not in (row.id, row.hashed_key)


def test_a_key_can_be_limited_and_can_end():
    for slug in ("one", "two", "three"):
        store_application(slug=slug, title=slug)

    key = create("robot", "--application", "one", "--application", "two", "--expires", "2199-01-31")

    row = find(key)
    assert sorted(row.applications.values_list("slug", flat=True)) == ["one", "two"]
    assert row.is_limited
    assert row.expiry_date == datetime(2199, 1, 31, 23, 59, 59, 999999, UTC)
    assert [*AuditEntry.objects.values_list("event", "actor")] == [("key.created", "")]


def test_a_key_can_end_at_a_time():
    row = find(create("robot", "--expires", "2199-01-31T12:00+02:00"))

    assert row.expiry_date == datetime(2199, 1, 31, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["robot", "--application", "nothing"], "Unknown application: 'nothing'"),
        (
            ["robot", "--expires", "tomorrow"],
            "'tomorrow' can’t be used. Enter a date from 1900 to 2199",
        ),
        (
            ["robot", "--expires", "2999-13-01"],
            "'2999-13-01' can’t be used. Enter a date from 1900 to 2199",
        ),
        (["robot", "--expires", "2001-01-01"], "in the past"),
        (
            ["robot", "--expires", "2999-01-31"],
            "'2999-01-31' can’t be used. Enter a date from 1900 to 2199",
        ),
        (
            ["robot", "--expires", "9999-12-31T23:59:59-14:00"],
            "can’t be used. Enter a date from 1900 to 2199",
        ),
        ([" "], "1 to 50 characters"),
        (["x" * 51], "1 to 50 characters"),
    ],
)
def test_what_cannot_be_is_refused_and_no_key_is_made(arguments, told):
    with pytest.raises(CommandError, match=told):
        create(*arguments)

    assert not ApiKey.objects.exists()


# --- The administrator's account -------------------------------------------------------------------


def printed(*arguments: str) -> str:
    output = StringIO()
    call_command("admin_account", *arguments, stdout=output)
    return output.getvalue()


def password_in(text: str) -> str:
    return text.split("Password: ")[1].splitlines()[0]


@pytest.mark.postgres
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
