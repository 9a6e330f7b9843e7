"""A waiting statement delays no other work, and is cancelled after a timeout."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import psycopg
import pytest
from asgiref.sync import SyncToAsync, sync_to_async
from channels.db import database_sync_to_async

from quickapps_site.postgresql import base, limits
from quickapps_site.postgresql.limits import Limits
from quickapps_site.server import database_threads
from quickapps_site.server.database_threads import DatabaseThreads
from tests.services import absence

PATIENCE = 60.0


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SyncToAsync, "single_thread_executor", DatabaseThreads(2))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("call", [database_sync_to_async, sync_to_async])
def test_work_on_the_database_goes_on_while_a_statement_waits(call):
    waits, is_over = threading.Event(), threading.Event()

    def blocked() -> str:
        waits.set()
        return "late" if is_over.wait(PATIENCE) else "never"

    async def both() -> tuple[str, str]:
        slow = asyncio.ensure_future(call(blocked)())
        await asyncio.to_thread(waits.wait, PATIENCE)
        quick = await asyncio.wait_for(call(lambda: "at once")(), PATIENCE)
        is_over.set()
        return quick, await slow

    assert asyncio.run(both()) == ("at once", "late")


@pytest.mark.usefixtures("threads")
def test_a_thread_gives_its_connection_back_after_each_call(monkeypatch: pytest.MonkeyPatch):
    closed: list[str] = []
    monkeypatch.setattr(
        database_threads,
        "close_old_connections",
        lambda: closed.append(threading.current_thread().name[:8]),
    )

    asyncio.run(sync_to_async(int)())

    assert closed == ["database"]


def test_a_serving_process_limits_its_statements(monkeypatch: pytest.MonkeyPatch):
    if reason := absence("postgres"):
        pytest.skip(reason)
    monkeypatch.setattr(limits, "_limits", Limits(lock=0.1, statement=0.2))
    address = os.environ["TEST_DATABASE_URL"].rpartition("/")[0] + "/postgres"

    with psycopg.connect(address, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(4711)")
        with psycopg.connect(address, autocommit=True) as limited:
            limits.limit(limited)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                limited.execute("SELECT pg_advisory_lock(4711)")
            with pytest.raises(psycopg.errors.QueryCanceled):
                limited.execute("SELECT pg_sleep(30)")


def test_limits_are_not_set_for_sessions_that_a_pooler_shares(monkeypatch: Any, settings: Any):
    set_for: list[Any] = []

    def limit(connection: Any) -> bool:
        set_for.append(connection)
        return False

    monkeypatch.setattr(base, "limit", limit)
    monkeypatch.setattr(
        base.DatabaseWrapper.__mro__[1], "_configure_connection", lambda self, connection: False
    )
    wrapper = base.DatabaseWrapper({"NAME": "x"})

    for is_pooled in (True, False):
        settings.DATABASE_TRANSACTION_POOLING = is_pooled
        wrapper._configure_connection(str(is_pooled))

    assert set_for == ["False"]
