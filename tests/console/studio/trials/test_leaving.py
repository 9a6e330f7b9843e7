"""A call ends when its caller closes the page or stops it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.console.studio.trials.services import shop, slow_service
from tests.sites.serving import Site, serve

PREPARE = """
from django.contrib.auth.models import User
from django.test import Client
operator = User.objects.create_superuser("ann", "", "x")
client = Client()
client.force_login(operator)
application = Application.objects.create(slug="slow", title="Slow", manifest=manifest)
result = [application.pk, client.session.session_key]
"""
MANIFEST = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": []}
TOKEN = "t" * 32


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with serve(folder) as served:
        yield served


@pytest.mark.slow("starts a server that answers slowly")
def test_a_call_ends_when_its_caller_leaves(site):
    with slow_service() as (url, told):
        manifest = {**MANIFEST, "tool_sets": [shop(url)]}
        number, session = site.shell(PREPARE, manifest=manifest)
        typed = {"mode": "json", "json": '{"item": "tea"}'}
        body = {"manifest": manifest, "place": 0, "name": "shop_look_up", "arguments": typed}
        connection = HTTPConnection(urlsplit(site.url).netloc, timeout=60)
        connection.request(
            "POST",
            f"/admin/catalog/application/{number}/studio/tools/trial/",
            json.dumps(body),
            {
                "content-type": "application/json",
                "cookie": f"sessionid={session}; csrftoken={TOKEN}",
                "x-csrftoken": TOKEN,
            },
        )

        assert told.get(timeout=60) == "GET"
        connection.close()

        assert told.get(timeout=60) == "gone"
    assert "Traceback" not in site.log.read_text()
