"""The pages whose scripts are tested, and the fragments that they fetch, rendered by the site."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.sites.fork_server import ROOT
from tests.sites.serving import close_shell, new_site

FOLDER = ROOT / "var" / "test-pages"
RENDER = """
import json

from django.contrib.auth.models import User
from django.test import Client

from tests.capabilities.manifests import parameter, tool, tool_set
from tests.catalog.rows import store_application

manifest = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
}
application = store_application(
    slug="page-tests", title="Page tests", description="Repeats it.", is_public=True,
    manifest=manifest,
)
operator = Client()
operator.force_login(User.objects.create_superuser("operator"))
addresses = {
    "chat": (Client(), "/chat/page-tests/"),
    "account": (operator, "/account/"),
    "schedule": (operator, "/scheduled/new/"),
    "studio": (operator, f"/admin/catalog/application/{application.pk}/studio/"),
    "skill": (operator, "/admin/catalog/contentitem/add/?kind=skill&name=by-hand"),
    "content": (operator, "/admin/catalog/contentitem/add/"),
}
result = {}
for name, (client, address) in addresses.items():
    response = client.get(address, headers={"host": "127.0.0.1"})
    assert response.status_code == 200, (address, response.status_code)
    result[name] = response.text

properties = {
    "query": parameter("query", "query", description="Words."),
    "limit": parameter("query", "limit", "integer", description="Most.", default=10),
    "tags": parameter("body", "tags", "array", description="Marks.", items={"type": "string"}),
    "version": {"type": None, "const": "v1", "parameter_info": {"type": "query", "key": "version"}},
}
tools = [tool("http://127.0.0.1:9/", "post", properties, ("query",)) for _ in range(9)]
for number, one in enumerate(tools):
    one["open_ai_tool"]["function"] |= {"name": f"find_{number}", "description": f"Is of {number}."}
shop = tool_set(*tools)
draft = {"manifest": {**manifest, "tool_sets": [shop]}, "place": 0}
typed = {"mode": "form", "argument-query": "x", "argument-tags": "[1,"}
trials = {
    "trial-tools": {},
    "trial-form": {"name": "shop_find_7"},
    "trial-mistakes": {"name": "shop_find_7", "arguments": typed},
    "trial-report": {"name": "shop_find_7", "arguments": {"mode": "json", "json": "{}"}},
}
address = f"/admin/catalog/application/{application.pk}/studio/check/"
service = {**tool_set(tool(5)), "base_url": 5, "title": "Shop"}
mistaken = {
    **manifest,
    "orchestrator": {
        "deployment": {"deployment_id": "demo", "parameters": {"temperature": "hot"}},
        "system_prompt": {"type": "custom", "variables": {}},
        "max_iterations": "many",
    },
    "conversation_starters": {"starters": [{"title": "Hello"}]},
    "features": {"memory": {"enabled": True, "prime": "all"}},
    "tool_sets": [service],
}
body = json.dumps({"manifest": mistaken, "title": "", "description": "", "icon": "", "skills": {}})
response = operator.post(address, body, "application/json", headers={"host": "127.0.0.1"})
result["mistakes"] = json.dumps({"manifest": mistaken, **response.json()})

address = f"/admin/catalog/application/{application.pk}/studio/tools/trial/"
for name, asked in trials.items():
    body = json.dumps({**draft, **asked})
    response = operator.post(address, body, "application/json", headers={"host": "127.0.0.1"})
    assert response.status_code == 200, (name, response.status_code)
    result[name] = response.text
"""


def write_pages() -> None:
    """Render the pages into `FOLDER`, one file each, with single scripts in place of bundles."""
    with tempfile.TemporaryDirectory() as folder:
        site = new_site(Path(folder), DEBUG="true")
        pages = site.shell(RENDER)
        close_shell(site)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, html in pages.items():
        (FOLDER / f"{name}.html").write_text(html, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
