"""A connection must send its request in time, and the number of connections is limited."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.site.server.hasty_site import MOST
from tests.sites.serving import Site, serve_process
from tests.sites.websocket import PageSocket, visitor_cookie

PATIENCE = 60.0
REQUEST = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with serve_process(folder, "tests.site.server.hasty_site") as (served, _):
        served.manage("import_content")
        yield served


def connected(site: Site) -> socket.socket:
    parts = urlsplit(site.url)
    assert parts.hostname is not None
    assert parts.port is not None
    return socket.create_connection((parts.hostname, parts.port), PATIENCE)


def rest(connection: socket.socket) -> bytes:
    """Return everything until the server disconnects."""
    whole = b""
    while piece := connection.recv(65536):
        whole += piece
    return whole


def status(said: bytes) -> int:
    return int(said.split(b" ")[1])


@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: local"])
def test_a_head_that_is_not_completed_in_time_is_given_up(site: Site, begun: bytes) -> None:
    with connected(site) as connection:
        connection.sendall(begun)
        assert status(rest(connection)) == 408


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"], ids=["endless", "complete"])
def test_a_head_that_is_too_large_is_refused(site: Site, end: bytes) -> None:
    with connected(site) as connection:
        connection.sendall(REQUEST[:-2] + b"x-long: " + b"x" * 65_536 + end)
        assert status(connection.recv(65536)) == 431


def test_a_second_head_on_a_kept_connection_has_its_own_time(site: Site) -> None:
    with connected(site) as connection:
        connection.sendall(REQUEST)
        assert status(connection.recv(65536)) == 200
        connection.sendall(b"GET /hea")
        assert status(rest(connection)) == 408


@pytest.mark.slow("starts a site in a process of its own")
def test_a_socket_and_a_long_answer_outlive_the_time_for_a_head(site: Site, tmp_path: Path) -> None:
    page = PageSocket(site.url, "demo", visitor_cookie(site.url, "demo"))
    with connected(site) as late:
        assert status(rest(late)) == 408  # the socket was silent for that long

    page.ask("Hello")
    page.until("message.complete")
    page.close()


def test_of_too_many_connections_the_last_are_told_to_come_back(site: Site) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connected(site)) for _ in range(MOST + 3)]
        told = [rest(connection) for connection in held]

    assert sorted(map(status, told)) == [408] * MOST + [503] * 3
    assert {b"retry-after: 1" in one for one in told if status(one) == 503} == {True}
    with connected(site) as connection:
        connection.sendall(REQUEST)
        assert status(connection.recv(65536)) == 200
