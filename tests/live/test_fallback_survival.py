"""A process that is killed after a fallback has answered: the next one stays with the fallback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser.serving import serve_process
from tests.live.slow_service import SlowService, serve_slow_service
from tests.live.test_survival import FINISHED, SLUG, STORED, manifest, watching
from tests.websocket import PATIENCE, PageSocket, visitor_cookie

PREPARE = """
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="spare", display_name="Spare", base_url=url, model_name="m", api_key="k"
)
Deployment.objects.create(
    deployment_id="slow", display_name="Slow", base_url=busy_url, fallbacks=["spare"]
)
Application.objects.create(slug=slug, title="Steady", manifest=manifest, is_public=True)
"""
NOTICE = "Answered by Spare because Slow was overloaded."


class Busy(BaseHTTPRequestHandler):
    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(503)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def serve_busy() -> Iterator[str]:
    Busy.asked = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.fixture
def service() -> Iterator[SlowService]:
    with serve_slow_service() as service:
        yield service


def test_a_run_of_a_killed_process_goes_on_with_the_fallback_that_answered(
    tmp_path: Path, service: SlowService
):
    with serve_busy() as busy_url:
        with serve_process(tmp_path) as (site, process):
            asked = {"url": service.url, "busy_url": busy_url, "slug": SLUG}
            site.shell(PREPARE, **asked, manifest=manifest(service.url))
            cookie = visitor_cookie(site.url, SLUG)
            tab = PageSocket(site.url, SLUG, cookie)
            conversation = tab.ask("Look for me.")
            notices = [one["text"] for one in tab.until("notice.added") if "notice" in one]
            assert service.is_slow.wait(PATIENCE)
            # What is being done is on its way to the database for a quarter of a second.
            time.sleep(1)
            before = Busy.asked
            process.kill()
            process.wait(PATIENCE)
            tab.close()
            service.may_end.set()
        with serve_process(tmp_path) as (next_site, _):
            with watching(next_site, cookie, conversation) as page:
                page.until("run.status", status="done")
            stored = next_site.shell(STORED)

    del stored["steps"]
    assert stored == FINISHED
    assert notices == [NOTICE]
    assert (before, Busy.asked) == (4, 4)
    assert service.asked == 3
