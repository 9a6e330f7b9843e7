from __future__ import annotations

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def test_the_description_is_complete_and_without_warnings(tmp_path):
    file = tmp_path / "schema.yaml"

    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(file))

    assert "/api/applications/{slug}/" in file.read_text()


def test_the_page_loads_only_from_this_server(client):
    page = client.get("/api/docs/").content.decode()

    assert 'src="/static/drf_spectacular_sidecar/' in page
    assert "https://" not in page
