"""Two processes share a database: one answers with what the other has saved."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.catalog.content.files import write
from tests.load.processes import until
from tests.sites.serving import Site, migrated_database, serve_process

PREPARE = """
from django.contrib.auth.models import User
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.models import Deployment
User.objects.create_superuser("operator", "", "a-password-for-tests")
Deployment.objects.create(deployment_id="demo-model", display_name="Demo", provider="demo")
save_live(Application(slug="it", title="It", manifest=manifest))
result = ApiKey.objects.create_key(name="it")[1]
"""
PUBLISH = """
from apps.catalog.models import Application
from apps.catalog.actions import publish
result = publish.execute(Application.objects.get(slug="it"), "The predefined content of now").number
"""
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [{"type": "predefined", "template_name": "weather"}],
}
PATIENCE = 60.0


def answer_of(site: Site, key: str) -> str:
    """Return the demo model's list of its tools."""
    answer = httpx.post(
        f"{site.url}/openai/deployments/it/chat/completions",
        headers={"Api-Key": key},
        json={"messages": [{"role": "user", "content": "help"}]},
        timeout=PATIENCE,
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


@contextmanager
def operator(site: Site) -> Iterator[httpx.Client]:
    login = "/admin/login/"
    typed = {"username": "operator", "password": "a-password-for-tests"}
    with httpx.Client(
        base_url=site.url, follow_redirects=True, timeout=PATIENCE, trust_env=False
    ) as client:
        post(client, login, typed, client.get(login).text)
        yield client


def post(client: httpx.Client, url: str, typed: dict[str, str], page: str) -> httpx.Response:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found is not None, page
    data = {**typed, "csrfmiddlewaretoken": found[1]}
    answer = client.post(url, data=data, headers={"Referer": str(client.base_url)})
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.slow("two sites share a database")
@pytest.mark.full
def test_an_override_is_answered_with_by_another_process(tmp_path: Path):
    def answers(text: str) -> bool:
        return until(PATIENCE, lambda: text in answer_of(second, key))

    extra = write(tmp_path / "extra")
    settings = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/both.sqlite3",
        "SECRET_KEY": "x" * 50,
        "PREDEFINED_EXTRA_PATHS": json.dumps([str(extra)]),
    }
    shutil.copy(migrated_database(), tmp_path / "both.sqlite3")
    folders = [tmp_path / "1", tmp_path / "2"]
    for folder in folders:
        folder.mkdir()
    program = "tests.site.quick_demo_site"
    with (
        serve_process(folders[0], program, **settings) as (first, _),
        serve_process(folders[1], program, **settings) as (second, _),
    ):
        key = first.shell(PREPARE, manifest=MANIFEST)
        before = answer_of(second, key)
        with operator(first) as client:
            add = "/admin/catalog/contentitem/add/?kind=tool&name=weather"
            built_in = Path("predefined/tool/weather.json").read_text(encoding="utf-8")
            text = built_in.replace("The current weather in a city.", "What falls from the sky.")
            typed = {"kind": "tool", "name": "weather", "text": text}
            page = post(client, add, typed, client.get(add).text)
            first.shell(PUBLISH)
            assert answers("What falls from the sky.")

            number = re.search(r"contentitem/(\d+)/delete/", page.text)
            assert number is not None
            delete = f"/admin/catalog/contentitem/{number[1]}/delete/"
            post(client, delete, {"post": "yes"}, client.get(delete).text)
            first.shell(PUBLISH)
            assert answers("The current weather in a city.")

        write(extra, tool__weather=text.replace("What falls", "What comes"))
        first.shell(PUBLISH)
        assert answers("What comes from the sky.")

    assert "The current weather in a city." in before
