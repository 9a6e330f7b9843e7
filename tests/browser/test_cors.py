"""A page of another origin calls the gateway in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.sites.serving import serve_process

PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(deployment_id="demo-model", display_name="Demo", provider="demo")
orchestrator = {"deployment": {"deployment_id": "demo-model"}}
manifest = {"orchestrator": orchestrator, "contexts": [], "tool_sets": []}
Application.objects.create(slug="open", title="Open", manifest=manifest, is_public=True)
row, key = ApiKey.objects.create_key(name="page")
result = [key, f"key-{row.prefix}"]
"""
ASK = """
async ([url, key, bucket]) => {
  const headers = {"Content-Type": "application/json"};
  if (key) headers["Api-Key"] = key;
  const messages = [{role: "user", content: "Hello"}];
  const body = JSON.stringify({model: "open", stream: true, messages});
  const answer = await fetch(`${url}/v1/chat/completions`, {method: "POST", headers, body});
  if (!answer.ok) return {status: answer.status};
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  const form = new FormData();
  form.append("file", new Blob(["Oslo,7"], {type: "text/csv"}), "a.csv");
  const place = `${url}/v1/files/${bucket}/a.csv`;
  const stored = await fetch(place, {method: "PUT", headers: {"Api-Key": key}, body: form});
  const file = await fetch(place, {headers: {"Api-Key": key}});
  return {
    status: answer.status,
    isWhole: text.endsWith("data: [DONE]\\n\\n"),
    etag: stored.headers.get("etag") === file.headers.get("etag") && file.headers.get("etag") !== null,
    disposition: file.headers.get("content-disposition"),
    content: await file.text(),
  };
}
"""


class Blank(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Disable logging."""


@contextmanager
def blank_pages() -> Iterator[str]:
    """Serve empty pages. Yields their origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.slow("a walk through several pages in a browser")
def test_a_named_page_asks_with_a_key_and_no_other_page_can(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("site")
    with (
        blank_pages() as named,
        blank_pages() as other,
        serve_process(folder, "tests.site.quick_demo_site", CORS_ALLOWED_ORIGINS=named) as (
            site,
            _,
        ),
    ):
        key, bucket = site.shell(PREPARE)
        page = browser.new_page()
        page.goto(named)
        asked = page.evaluate(ASK, [site.url, key, bucket])
        without_key = page.evaluate(ASK, [site.url, "", bucket])
        page.goto(other)
        refused = page.evaluate(
            f"(given) => ({ASK})(given).catch((error) => error.name)", [site.url, key, bucket]
        )
        page.close()

    assert asked == {
        "status": 200,
        "isWhole": True,
        "etag": True,
        "disposition": "attachment; filename*=UTF-8''a.csv",
        "content": "Oslo,7",
    }
    assert (without_key, refused) == ({"status": 401}, "TypeError")
