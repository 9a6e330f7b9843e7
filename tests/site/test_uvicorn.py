"""The ASGI application under another server than the one that comes with it."""

from __future__ import annotations

from pathlib import Path

from tests.browser.serving import serve_process
from tests.websocket import PageSocket, visitor_cookie

ARGUMENTS = ("quickapps_site.asgi:application", "--host", "127.0.0.1", "--port", "{port}")


def test_uvicorn_serves_the_page_and_its_socket(tmp_path: Path) -> None:
    with serve_process(tmp_path, "uvicorn", ARGUMENTS) as (site, _):
        site.manage("import_content")
        page = PageSocket(site.url, "demo", visitor_cookie(site.url, "demo"))

        page.ask("Hello")
        frames = page.until("message.complete")
        page.close()

    assert "".join(one.get("text", "") for one in frames if one["type"] == "message.delta")
