"""Who leaves the page of a trial, or stops it, ends the call."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.serving import Site, serve
from tests.console.workbench.test_views import shop

PREPARE = """
from django.contrib.auth.models import User
from django.test import Client
operator = User.objects.create_superuser("ann", "", "x")
client = Client()
client.force_login(operator)
application = Application.objects.create(
    slug="slow",
    title="Slow",
    manifest={
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": [],
        "tool_sets": [toolset],
    },
)
result = [application.pk, client.session.session_key]
"""
TOKEN = "t" * 32


@contextmanager
def slow_service() -> Iterator[tuple[str, queue.Queue[str]]]:
    """Never answers; tells when it is asked, and when whoever asked is gone."""
    told: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    told.put(connection.recv(65536).split(b" ")[0].decode())
                    while connection.recv(65536):
                        pass
                told.put("gone")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/items", told
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with serve(folder) as served:
        yield served


def test_a_call_ends_when_whoever_made_it_leaves(site):
    with slow_service() as (url, told):
        number, session = site.shell(PREPARE, toolset=shop(url))
        connection = HTTPConnection(urlsplit(site.url).netloc, timeout=60)
        connection.request(
            "POST",
            f"/admin/catalog/application/{number}/try/0/shop_look_up/",
            urlencode({"mode": "json", "json": '{"item": "tea"}', "csrfmiddlewaretoken": TOKEN}),
            {
                "content-type": "application/x-www-form-urlencoded",
                "cookie": f"sessionid={session}; csrftoken={TOKEN}",
                "x-fragment": "1",
            },
        )

        assert told.get(timeout=60) == "GET"
        connection.close()

        assert told.get(timeout=30) == "gone"
    assert "Traceback" not in site.log.read_text()
