"""The pages whose scripts are tested, as the site renders them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.browser.serving import close_shell, new_site
from tests.fork_server import ROOT

FOLDER = ROOT / "var" / "test-pages"
RENDER = """
from django.contrib.auth.models import User
from django.test import Client

manifest = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
}
application = Application.objects.create(
    slug="page-tests", title="Page tests", description="Repeats it.", is_public=True,
    manifest=manifest,
)
operator = Client()
operator.force_login(User.objects.create_superuser("operator"))
addresses = {
    "chat": (Client(), "/chat/page-tests/"),
    "studio": (operator, f"/admin/catalog/application/{application.pk}/studio/"),
    "skill": (operator, "/admin/catalog/contentitem/add/?kind=skill&name=by-hand"),
    "content": (operator, "/admin/catalog/contentitem/add/"),
}
result = {}
for name, (client, address) in addresses.items():
    response = client.get(address, headers={"host": "127.0.0.1"})
    assert response.status_code == 200, (address, response.status_code)
    result[name] = response.text
"""


def write_pages() -> None:
    """Render the pages into `FOLDER`, one file each. The single scripts are named, not bundles."""
    with tempfile.TemporaryDirectory() as folder:
        site = new_site(Path(folder), DEBUG="true")
        pages = site.shell(RENDER)
        close_shell(site)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, html in pages.items():
        (FOLDER / f"{name}.html").write_text(html, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
