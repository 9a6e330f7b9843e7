"""Resolving stays fast with five hundred applications and two thousand items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.content.installed import expire_content, installed_content
from apps.catalog.content.models import ContentItem
from apps.catalog.models import Application
from tests.catalog.content.files import write
from tests.catalog.rows import make_operator, manifest_with
from tests.manifest.documents import rest_tool, rest_tools

pytestmark = pytest.mark.django_db

MOST_QUERIES = 17
LIST = "/admin/catalog/contentitem/"


@pytest.fixture
def client(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    tools = {f"tool__t{n}": rest_tool(f"t{n}", type="restapi-tool") for n in range(500)}
    sets = {
        f"toolset__s{n}": rest_tools({"template_name": f"t{n}"}, name=f"S{n}") for n in range(500)
    }
    settings.PREDEFINED_DIR = write(tmp_path, **tools, **sets)
    ContentItem.objects.bulk_create(
        ContentItem(kind="tool", name=f"r{n}", version=1, text=json.dumps(rest_tool(f"r{n}")))
        for n in range(1_000)
    )
    Application.objects.bulk_create(
        Application(
            slug=f"a{n}",
            title=f"A{n}",
            version=1,
            manifest=manifest_with(
                tool_sets=[{"type": "predefined", "template_name": f"s{n % 10}"}]
            ),
        )
        for n in range(500)
    )
    client = Client()
    client.force_login(make_operator())
    return client


def test_no_page_asks_more_than_a_few_queries(client, django_assert_max_num_queries):
    row = ContentItem.objects.get(name="r7")
    application = Application.objects.get(slug="a7")
    urls = (
        LIST,
        f"{LIST}?kind=tool&page=20",
        f"{LIST}item/toolset/s7/",
        f"{LIST}item/tool/r7/",
        f"{LIST}{row.pk}/change/",
        f"{LIST}add/?kind=tool&name=t7",
        "/admin/catalog/application/",
        f"/admin/catalog/application/{application.pk}/studio/",
    )

    for url in urls:
        expire_content()
        with django_assert_max_num_queries(MOST_QUERIES):
            assert client.get(url).status_code == 200

    found = client.get(f"{LIST}item/toolset/s7/")
    assert len(found.context["uses"].applications) == 50
    assert client.get(LIST).context["page"].paginator.count == 2_000


def test_a_changed_row_among_thousands_is_read_alone(client):
    before = installed_content()
    file = before.items["tool"]["t7"]
    row = ContentItem.objects.get(name="r7")
    row.text = json.dumps(rest_tool("changed"))
    row.save()

    expire_content()
    with CaptureQueriesContext(connection) as looking:
        after = installed_content()

    name = after.items["tool"]["r7"].value["open_ai_tool"]["function"]["name"]
    assert (name, after.items["tool"]["t7"] is file) == ("changed", True)
    others = [name for name in after.items["tool"] if name != "r7"]
    assert all(after.items["tool"][name] is before.items["tool"][name] for name in others)
    assert len(looking) == 3
