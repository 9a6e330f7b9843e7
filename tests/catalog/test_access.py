from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync

from apps.accounts.caller import Caller
from apps.catalog.access import may_use, usable
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication, resolve
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db

VISITOR = Caller("session-1")
USER = Caller("user-7", kind="user", user_id=7)
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


@pytest.mark.parametrize(
    ("caller", "slugs"),
    [(VISITOR, ["public"]), (USER, ["private", "public"]), (WIDE_KEY, ["private", "public"])],
)
def test_the_list_and_the_door_agree(caller, slugs, applications):
    assert sorted(item.slug for item in usable(caller)) == slugs
    assert [item.slug for item in resolved(applications) if may_use(item, caller)] == slugs


def test_a_key_uses_the_applications_of_its_scope_alone(applications):
    private = applications[1]
    key = Caller("key-1", kind="key", scope=frozenset({private.pk}))

    assert [item.slug for item in usable(key)] == ["private"]
    assert [item.slug for item in resolved(applications) if may_use(item, key)] == ["private"]


def test_a_key_with_nothing_left_in_its_scope_uses_nothing(applications):
    key = Caller("key-1", kind="key", scope=frozenset())

    assert list(usable(key)) == []
    assert not any(may_use(item, key) for item in resolved(applications))
