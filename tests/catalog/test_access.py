from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from apps.accounts.caller import Caller, KeyLimits, caller_in
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.resolve import may_use, resolve_application
from apps.catalog.resolved_application import ResolvedApplication
from tests.catalog.rows import make_application

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def applications() -> list[Application]:
    return [
        make_application("closed", is_enabled=False, is_public=True),
        make_application("private"),
        make_application("public", is_public=True),
    ]


def resolved(applications: list[Application]) -> list[ResolvedApplication]:
    return [
        async_to_sync(resolve_application)(item.slug) for item in applications if item.is_enabled
    ]


def admitted(applications: list[Application], caller: Caller) -> list[str]:
    found = resolved(applications)
    return [item.slug for item in found if async_to_sync(may_use)(item, caller)]


def test_the_list_and_the_door_agree(applications):
    make_application("closed-circle", is_shared=False)
    private = applications[1]
    person = caller_in(User.objects.create_user("grace").pk)
    callers = [
        (Caller("session-1"), ["public"]),
        (Caller("key-1", kind="key"), ["closed-circle", "private", "public"]),
        (person, ["private", "public"]),
        (Caller("key-1", kind="key", limits=KeyLimits(scope=frozenset({private.pk}))), ["private"]),
        (Caller("key-1", kind="key", limits=KeyLimits(scope=frozenset())), []),
    ]

    for caller, slugs in callers:
        assert sorted(item.slug for item in usable(caller)) == slugs
        assert admitted([*Application.objects.order_by("slug")], caller) == slugs
