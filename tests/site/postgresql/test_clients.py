"""Statements of a disconnected client, on PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler, OperationalError, ProgrammingError

from quickapps_site import service_urls
from quickapps_site.postgresql.clients import current, with_ended_statements
from tests.databases import postgresql
from tests.services import absence
from tests.sites.serving import serve
from tests.sites.websocket import visitor_cookie

RUNNING = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%pg_sleep(60)%%' AND state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()"


pytestmark = pytest.mark.django_db

PATIENCE = 60.0
SLUG = "searched"
PREPARE = """
from apps.catalog.models import Application
manifest = {"orchestrator": {"deployment": {"deployment_id": "m"}}, "contexts": [], "tool_sets": []}
Application.objects.create(slug=slug, title="Searched", manifest=manifest, is_public=True)
"""


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[BaseDatabaseWrapper]:
    """Use a connection like the site's on each thread."""
    if reason := absence("postgres"):
        pytest.skip(reason)
    with postgresql.database() as name:
        monkeypatch.setenv("SITE_DATABASE", postgresql.address_of(name))
        handler = ConnectionHandler({"default": service_urls.database("SITE_DATABASE", "")})
        handler.settings["default"]["OPTIONS"]["pool"]["max_size"] = 2
        wrapper: Any = handler["default"]
        wrapper.inc_thread_sharing()
        yield wrapper
        wrapper.close()
        wrapper.close_pool()


class Request:
    """A request to an application that runs `work` on a thread, as Django runs a view."""

    def __init__(self, method: str, work: Any) -> None:
        self.has_left = asyncio.Event()
        self.scope = {"type": "http", "method": method}
        self.work = work

    async def run(self) -> Any:
        return await with_ended_statements(self.application)(self.scope, self.receive, None)

    async def receive(self) -> dict[str, str]:
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        listening = asyncio.ensure_future(receive())
        try:
            await sync_to_async(self.work, thread_sensitive=False)()
        finally:
            self.has_left.set()
            await listening


def execute(database: BaseDatabaseWrapper, statement: str) -> Any:
    with database.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


async def test_a_statement_ends_when_its_client_leaves(database):
    begun = threading.Event()

    def work() -> None:
        execute(database, "SELECT 1")
        begun.set()
        execute(database, "SELECT pg_sleep(60)")

    request = Request("GET", work)
    running = asyncio.create_task(request.run())
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    request.has_left.set()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, PATIENCE)
    assert await asyncio.to_thread(execute, database, RUNNING) == 0


async def test_a_connection_with_an_error_returns_to_the_pool_although_its_client_has_left(
    database,
):
    def work() -> None:
        with pytest.raises(ProgrammingError):
            execute(database, "SELECT nothing")
        current.get().leave()
        database.close_if_unusable_or_obsolete()

    await Request("GET", work).run()

    assert (database.errors_occurred, await asyncio.to_thread(execute, database, "SELECT 1")) == (
        False,
        1,
    )


async def test_what_changes_something_is_carried_out_to_its_end(database):
    begun = threading.Event()

    def work() -> None:
        begun.set()
        execute(database, "SELECT pg_sleep(0.3)")

    request = Request("POST", work)
    running = asyncio.create_task(request.run())
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    request.has_left.set()

    await asyncio.wait_for(running, PATIENCE)


async def test_a_statement_that_takes_too_long_is_an_error_while_its_client_waits(database):
    def work() -> None:
        execute(database, "SELECT set_config('statement_timeout', '10ms', false)")
        execute(database, "SELECT pg_sleep(60)")

    with pytest.raises(OperationalError):
        await Request("GET", work).run()


@pytest.mark.slow("starts a site in a process of its own")
@pytest.mark.full
def test_searches_that_were_abandoned_leave_the_connections_to_others(tmp_path: Path):
    if reason := absence("postgres"):
        pytest.skip(reason)
    with postgresql.database() as name:
        address = postgresql.address_of(name)
        with serve(tmp_path, DATABASE_URL=address, DATABASE_THREADS="1") as site:
            site.shell(PREPARE, slug=SLUG)
            headers = {"Cookie": visitor_cookie(site.url, SLUG)}
            with psycopg.connect(address) as other:
                other.execute("LOCK TABLE chat_message_words_stored IN ACCESS EXCLUSIVE MODE")
                for _ in range(12):  # more than the pool has
                    client = HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE)
                    client.request("GET", "/conversations/search/?q=hotel", headers=headers)
                    wait_for_waiting(address, 1)
                    client.close()
                    wait_for_waiting(address, 0)
            request = HttpRequest(f"{site.url}/conversations/search/?q=hotel", headers=headers)
            with urlopen(request, timeout=PATIENCE) as answer:
                found = json.load(answer)
            log = site.log.read_text()

    assert found == {"hits": []}
    assert "Traceback" not in log


def wait_for_waiting(address: str, count: int) -> None:
    """Wait until that many statements wait for a lock."""
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(address, autocommit=True) as looking:
        while time.monotonic() < deadline:
            row = looking.execute(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchone()
            if row == (count,):
                return
            time.sleep(0.02)
    raise AssertionError(f"There are never {count} statements that wait.")
