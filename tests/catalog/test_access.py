from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from apps.accounts.buckets import caller_in
from apps.accounts.caller import Caller
from apps.catalog.access import may_use, usable
from apps.catalog.models import Application
from apps.catalog.resolve import resolve
from apps.catalog.resolved_application import ResolvedApplication
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db

VISITOR = Caller("session-1")
WIDE_KEY = Caller("key-1", kind="key")


@pytest.fixture
def applications() -> list[Application]:
    return [
        make_application("closed", is_enabled=False, is_public=True),
        make_application("private"),
        make_application("public", is_public=True),
    ]


def resolved(applications: list[Application]) -> list[ResolvedApplication]:
    return [async_to_sync(resolve)(item.slug) for item in applications if item.is_enabled]


def admitted(applications: list[Application], caller: Caller) -> list[str]:
    found = resolved(applications)
    return [item.slug for item in found if async_to_sync(may_use)(item, caller)]


@pytest.mark.parametrize(
    ("caller", "slugs"), [(VISITOR, ["public"]), (WIDE_KEY, ["private", "public"])]
)
def test_the_list_and_the_door_agree(caller, slugs, applications):
    assert sorted(item.slug for item in usable(caller)) == slugs
    assert admitted(applications, caller) == slugs


def test_people_use_what_is_shared_with_everybody_signed_in(applications):
    make_application("closed-circle", is_shared=False)
    caller = caller_in(User.objects.create_user("grace").pk)

    assert sorted(item.slug for item in usable(caller)) == ["private", "public"]
    assert admitted(applications, caller) == ["private", "public"]


def test_a_key_uses_the_applications_of_its_scope_alone(applications):
    private = applications[1]
    key = Caller("key-1", kind="key", scope=frozenset({private.pk}))

    assert [item.slug for item in usable(key)] == ["private"]
    assert admitted(applications, key) == ["private"]


def test_a_key_with_nothing_left_in_its_scope_uses_nothing(applications):
    key = Caller("key-1", kind="key", scope=frozenset())

    assert list(usable(key)) == []
    assert not admitted(applications, key)
