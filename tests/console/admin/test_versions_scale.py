"""Pages of applications and versions ask as little of many rows as of a few."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import Application
from tests.catalog.rows import make_deployment, make_operator
from tests.catalog.versions.rows import make_many, make_versions

pytestmark = pytest.mark.django_db

LIST = "/admin/catalog/application/"
MOST_QUERIES = 15
PAGES = (
    LIST,
    f"{LIST}?state=changed",
    f"{LIST}?publishing=waiting",
    f"{LIST}{{pk}}/change/",
    f"{LIST}{{pk}}/versions/",
    f"{LIST}{{pk}}/versions/compare/?from=1&to=draft",
    f"{LIST}{{pk}}/versions/publish/",
    f"{LIST}{{pk}}/versions/request/",
    f"{LIST}{{pk}}/versions/take-over/",
    f"{LIST}{{pk}}/studio/",
    "/admin/catalog/contentitem/unpublished/",
    "/api/applications/",
    "/api/applications/many-0/",
    "/api/applications/many-0/draft/",
    "/api/applications/many-0/versions/",
)


def queries_of(client: Client, page: str, row: Application) -> int:
    with CaptureQueriesContext(connection) as found:
        answer = client.get(page.format(pk=row.pk))
        assert answer.status_code in (200, 302)
        answer.content  # noqa: B018 templates are rendered by now
    return len(found)


def test_no_page_asks_more_of_many_rows_than_of_a_few():
    make_deployment()
    client = Client()
    client.force_login(make_operator())
    (row, _) = make_many(2, 2, needs_second_publisher=True)
    client.get("/admin/find/")
    row.draft.based_on = 1
    row.draft.save()

    few = {page: queries_of(client, page, row) for page in PAGES}
    make_many(18, 20, needs_second_publisher=True)
    make_versions([row], 3, 20)
    many = {page: queries_of(client, page, row) for page in PAGES}

    assert {page: many[page] - few[page] for page in PAGES if many[page] > few[page]} == {}
    assert {page: count for page, count in many.items() if count > MOST_QUERIES} == {}
