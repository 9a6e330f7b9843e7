from __future__ import annotations

from collections.abc import Iterable

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import Application, Grant
from apps.process_state import reset
from tests.catalog.rows import make_application, make_deployment
from tests.console.admin.build.test_applications import LIST
from tests.console.pages import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def application() -> Application:
    make_deployment("demo-model")
    User.objects.create_user("anna")
    Group.objects.create(name="Sales")
    return make_application("travel", is_shared=False)


@pytest.fixture
def client(application) -> Client:
    return signed_in()


def number_of(queries: Iterable[dict[str, str]]) -> int:
    """Count without the check for changes of predefined content, which runs every few seconds."""
    return sum("catalog_contentitem" not in query["sql"] for query in queries)


@pytest.mark.usefixtures("nothing_expires")
def test_the_list_says_for_whom_each_one_is_in_the_same_queries(client, application):
    anna, sales = User.objects.get(username="anna"), Group.objects.get(name="Sales")
    client.get(LIST)  # what is cached from now on is not counted
    reset()
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for number in range(20):
        row = make_application(f"more-{number}", is_shared=False)
        Grant.objects.create(application=row, user=anna)
        Grant.objects.create(application=row, group=sales)
    make_application("everybody", is_public=True)
    make_application("members")

    reset()
    with CaptureQueriesContext(connection) as many:
        answer = client.get(LIST)

    rows = answer.context["cl"].result_list
    said = {row.slug: answer.context["cl"].model_admin.for_whom(row) for row in rows}
    assert number_of(many) == number_of(few)
    assert {said[slug] for slug in said if slug.startswith("more")} == {"1 person, 1 group"}
    assert (said["everybody"], said["members"]) == ("Everyone", "Signed-in users")
    assert said["travel"] == "Only its owner"
