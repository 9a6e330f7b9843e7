"""Libraries that use `requests` have the same egress rules as our own clients."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
import requests

from apps.workspace.egress import requests_session
from apps.workspace.egress.requests_session import GuardedSession


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        status = 307 if self.path == "/moved" else 201
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"sent": "%b"}' % sent)

    def log_message(self, *_: Any) -> None:
        """Disable logging."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def the_loopback_is_allowed(settings: Any) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]


def post(url: str) -> requests.Response:
    with GuardedSession() as session:
        return session.post(url, data={"code": "x"}, timeout=60)


def test_an_answer_is_one_of_the_library(url: str):
    answer = post(url)

    assert (answer.status_code, answer.json()) == (201, {"sent": "code=x"})


def test_nothing_is_sent_on_where_an_answer_points_to(url: str):
    assert post(f"{url}/moved").status_code == 307


@pytest.mark.parametrize("address", ["http://127.0.0.2:1", "https://127.0.0.2:1", "http://[::1]:1"])
def test_an_address_that_nobody_allowed_is_not_contacted(address: str):
    with pytest.raises(requests.ConnectionError, match="EgressRefused"):
        post(address)


def test_an_address_without_tls_is_not_contacted():
    with pytest.raises(requests.ConnectionError, match="requires https"):
        post("http://198.51.100.1/")


def test_a_large_answer_is_not_read_to_its_end(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(requests_session, "MOST_BYTES", 5)

    with pytest.raises(requests.ConnectionError, match="larger than 5 bytes"):
        post(url)


def test_a_slow_answer_is_not_waited_for(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(requests_session, "SECONDS", 0.0)

    with pytest.raises(requests.Timeout):
        post(url)
