"""The real site while PostgreSQL is down and after it returns, through a proxy on the loopback."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from quickapps_site.postgresql import base, watchdog
from quickapps_site.postgresql.base import working_connection
from quickapps_site.postgresql.reachability import Reachability
from tests.databases.postgresql import database
from tests.services import absence
from tests.sites.serving import Site, serve

PATIENCE = 60.0
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


pytestmark = pytest.mark.full


@pytest.fixture(scope="module", autouse=True)
def _there_is_a_server() -> None:
    if reason := absence("postgres"):
        pytest.skip(reason)


@dataclass
class Proxy:
    """Passes bytes on. It can `cut` all connections, refuse new ones, or respond to none."""

    target: tuple[str, int]
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    sockets: list[socket.socket] = field(default_factory=list)
    passes: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    def __post_init__(self) -> None:
        self.port = self.listener.getsockname()[1]
        self.passes.set()
        self.listen()

    def listen(self) -> None:
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self.target)
                self.sockets += (client, server)
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self.pump, args=(one, other), daemon=True).start()

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.passes.wait()
                sink.sendall(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        for one in self.sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.sockets.clear()

    def refuse(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def return_(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.listen()


@dataclass(frozen=True)
class Scene:
    site: Site
    proxy: Proxy
    url: str = ""
    """The database, without the proxy."""

    def ask(self, path: str = "/openai/models") -> tuple[int, str | None, Any]:
        """Return the status, `Retry-After`, and the JSON."""
        connection = HTTPConnection(urlsplit(self.site.url).netloc, timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        is_json = "json" in (answer.getheader("content-type") or "")
        said = json.loads(body) if is_json else body.decode()
        return answer.status, answer.getheader("retry-after"), said

    def until_it_is_back(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.ask()[0] != 200:
            assert time.monotonic() < deadline


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with database() as name:
        parts = urlsplit(os.environ["TEST_DATABASE_URL"])
        proxy = Proxy((parts.hostname or "127.0.0.1", parts.port or 5432))
        who = f"{parts.username or 'postgres'}:{parts.password or ''}"
        url = f"postgres://{who}@127.0.0.1:{proxy.port}/{name}"
        with serve(tmp_path_factory.mktemp("site"), DATABASE_URL=url) as site:
            site.manage("import_content")
            direct = os.environ["TEST_DATABASE_URL"].rpartition("/")[0]
            yield Scene(site, proxy, f"{direct}/{name}")
        proxy.refuse()


def test_one_request_at_most_fails_after_all_connections_were_cut(scene: Scene) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert {one[0] for one in threads.map(lambda _: scene.ask(), range(16))} == {200}

        scene.proxy.cut()

        after = [one[0] for one in threads.map(lambda _: scene.ask(), range(16))]

    assert sorted(after)[:15] == [200] * 15


@pytest.mark.parametrize("path", ["/openai/models", "/", "/readyz", "/chat/demo/"])
def test_while_it_refuses_connections_everybody_is_told_at_once_when_to_try_again(
    scene: Scene, path: str
) -> None:
    scene.proxy.refuse()
    try:
        told = [scene.ask(path) for _ in range(3)]
    finally:
        scene.proxy.return_()
    scene.until_it_is_back()

    assert [(status, after) for status, after, _ in told] == [(503, "1")] * 3


def test_while_it_answers_nothing_requests_do_not_wait_for_it(scene: Scene) -> None:
    scene.proxy.passes.clear()
    try:
        with ThreadPoolExecutor(8) as threads:
            told = list(threads.map(lambda _: scene.ask(), range(8)))
    finally:
        scene.proxy.passes.set()
        scene.proxy.cut()
    scene.until_it_is_back()

    assert [(status, after) for status, after, _ in told] == [(503, "1")] * 8
    said = told[0][2]
    assert said["error"]["code"] == "database_unavailable"
    assert "Try again in a moment." in said["error"]["message"]


def test_a_connection_that_answered_lately_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, asked = os.environ["TEST_DATABASE_URL"], list[object]()

    def is_alive(connection: object) -> bool:
        asked.append(connection)
        return True

    monkeypatch.setattr(base, "is_alive", is_alive)
    kind: Any = watchdog.WatchedConnection
    with ConnectionPool(address, connection_class=kind, min_size=1, max_size=1, open=True) as pool:
        with pool.connection(PATIENCE) as connection:
            connection.execute("SELECT 1")
        reachability = Reachability(conninfo_to_dict(address))
        lately: Any = working_connection(pool, reachability)
        pool.putconn(lately)
        assert asked == []
        lately.answered_at -= base.TRUSTED_SECONDS
        again: Any = working_connection(pool, reachability)
        pool.putconn(again)

    assert asked == [lately]


def test_a_pool_whose_connections_are_all_in_use_is_waited_for() -> None:
    address = os.environ["TEST_DATABASE_URL"]
    begun = time.monotonic()

    with ConnectionPool(address, min_size=1, max_size=1, timeout=0.5, open=True) as pool:
        pool.wait(PATIENCE)
        taken = pool.getconn(PATIENCE)
        with pytest.raises(PoolTimeout):
            working_connection(pool, Reachability(conninfo_to_dict(address)))
        waited = time.monotonic() - begun
        pool.timeout = PATIENCE
        threading.Timer(0.1, pool.putconn, [taken]).start()
        again = working_connection(pool, Reachability(conninfo_to_dict(address)))
        pool.putconn(again)

    assert waited >= 0.5
    assert again is taken


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/hooks/00000000-0000-4000-8000-000000000000"), ("GET", "/")]
)
def test_requests_that_wait_for_a_lock_leave_threads_and_connections_for_the_doors(
    scene: Scene, method: str, path: str
) -> None:
    # Pages hold up to ten connections, and calls of one kind up to four of the six threads.
    blocked, least = {"POST": ("triggers_webhook", 4), "GET": ("chat_pinnedapplication", 10)}[
        method
    ]
    begun, statuses = time.monotonic(), list[tuple[int, str]]()

    def ask(_: int) -> None:
        connection = HTTPConnection(urlsplit(scene.site.url).netloc, timeout=PATIENCE)
        connection.request(method, path, "{}" if method == "POST" else None)
        answer = connection.getresponse()
        statuses.append((answer.status, answer.read().decode()))
        connection.close()

    with (
        psycopg.connect(scene.url) as holder,
        psycopg.connect(scene.url, autocommit=True) as watcher,
        ThreadPoolExecutor(30) as threads,
    ):
        holder.execute(f"LOCK TABLE {blocked} IN ACCESS EXCLUSIVE MODE")
        waiting = [threads.submit(ask, number) for number in range(30)]
        while (watcher.execute(WAITING).fetchone() or (0,))[0] < least:
            assert time.monotonic() < begun + PATIENCE
        asked = time.monotonic()
        models = scene.ask()
        lasted = time.monotonic() - asked
        holder.rollback()
        for one in waiting:
            one.result(PATIENCE)

    assert (models[0], lasted < 2) == (200, True)
    assert {status for status, _ in statuses} <= {200, 404, 503}
    assert all("busy" in text for status, text in statuses if status == 503)
