"""Listing usable applications takes one database query, however many there are."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.caller import caller_in
from apps.catalog.access import usable
from apps.catalog.models import Application, Grant
from apps.catalog.resolve import may_use, resolve_application
from apps.runs.workspaces import list_applications
from tests.access.askers import Asker, make_askers
from tests.access.doors import models, open_house
from tests.chat.scripts import MANIFEST
from tests.contract import proves

pytestmark = pytest.mark.django_db
LISTED = 500


@pytest.fixture
def askers() -> Mapping[str, Asker]:
    return make_askers()


def asked_of_applications(captured: CaptureQueriesContext) -> list[str]:
    texts = [query["sql"] for query in captured]
    return [text for text in texts if 'FROM "catalog_application"' in text.partition("WHERE")[0]]


def make_many(user: User) -> None:
    rows = [
        Application(slug=f"a-{number}", title=f"A {number}", manifest=MANIFEST, version=1)
        for number in range(LISTED)
    ]
    made = Application.objects.bulk_create(rows)
    group = Group.objects.create(name="many")
    user.groups.add(group)
    Grant.objects.bulk_create(Grant(application=row, user=user) for row in made[::2])
    Grant.objects.bulk_create(Grant(application=row, group=group) for row in made[::3])


@proves("access")
@pytest.mark.parametrize("slug", ["private", "person-owner", "shared"])
def test_one_application_is_one_query(slug, askers):
    application = async_to_sync(resolve_application)(slug)
    caller = caller_in(User.objects.get(username="grantee").pk)

    with CaptureQueriesContext(connection) as captured:
        async_to_sync(may_use)(application, caller)

    assert len(captured) == 1


@proves("access")
def test_lists_of_many_applications_are_one_query(askers):
    grantee = User.objects.get(username="grantee")
    make_many(grantee)
    caller = caller_in(grantee.pk)

    with CaptureQueriesContext(connection) as captured:
        rows = list(usable(caller))
        names = async_to_sync(list_applications)(caller)

    assert (len(captured), len(rows)) == (2, len(names))
    assert len(rows) == 5 + len({*range(0, LISTED, 2), *range(0, LISTED, 3)})


@proves("access")
def test_the_gateway_lists_with_one_query_of_applications(askers):
    make_many(User.objects.get(username="grantee"))
    house = open_house()
    with CaptureQueriesContext(connection) as captured:
        status, _ = async_to_sync(models)(house, askers["key of the grantee"], "")

    assert (status, len(asked_of_applications(captured))) == (200, 1)
