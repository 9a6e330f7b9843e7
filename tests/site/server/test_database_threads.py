"""A waiting statement delays no other work, and is canceled after a timeout."""

from __future__ import annotations

import asyncio
import os
import threading
from functools import partial
from typing import Any

import psycopg
import pytest
from asgiref.sync import SyncToAsync, sync_to_async
from channels.db import database_sync_to_async
from django.contrib.auth.models import Group

from apps.accounts.models import ApiKey
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


def test_calls_that_wait_for_the_same_lock_leave_threads_for_other_calls(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(SyncToAsync, "single_thread_executor", DatabaseThreads(6))
    started, is_over = threading.Semaphore(0), threading.Event()

    def write() -> str:
        started.release()
        return "written" if is_over.wait(PATIENCE) else "never"

    def read() -> str:
        return "read"

    async def all_calls() -> tuple[list[str], int, set[str]]:
        writes = [asyncio.ensure_future(database_sync_to_async(write)()) for _ in range(30)]
        for _ in range(4):
            await asyncio.to_thread(started.acquire, timeout=PATIENCE)
        async with asyncio.timeout(PATIENCE):
            reads = [await call(read)() for call in (database_sync_to_async, sync_to_async)]
        running = 4 + sum(started.acquire(blocking=False) for _ in writes)
        is_over.set()
        return reads, running, set(await asyncio.gather(*writes))

    assert asyncio.run(all_calls()) == (["read", "read"], 4, {"written"})


def test_query_sets_of_different_models_are_different_kinds_of_calls():
    handler = SyncToAsync(int).thread_handler

    def kind_of(function: Any) -> object:
        return database_threads.kind_of(partial(handler, None, None, [], None, partial(function)))

    keys, teams = (model.objects.all() for model in (ApiKey, Group))

    assert kind_of(keys.count) == kind_of(ApiKey.objects.none().count)
    assert len({kind_of(keys.count), kind_of(keys.exists), kind_of(teams.count)}) == 3


def test_the_oldest_call_starts_first_and_cancelled_calls_do_not_start():
    threads, is_over, order = DatabaseThreads(1), threading.Event(), list[str]()
    first = threads.submit(is_over.wait, PATIENCE)
    waiting = [
        threads.submit(order.append, "a"),
        threads.submit(partial(order.append, "b")),
        threads.submit(order.append, "c"),
    ]
    waiting[1].cancel()
    is_over.set()

    assert (first.result(PATIENCE), waiting[2].result(PATIENCE), order) == (True, None, ["a", "c"])


def test_a_call_that_fails_reports_its_error_and_frees_its_thread():
    threads = DatabaseThreads(1)

    failed = threads.submit(int, "x").exception(PATIENCE)

    assert (type(failed), threads.submit(int, "7").result(PATIENCE)) == (ValueError, 7)


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


def test_limits_are_not_set_for_sessions_that_a_pooler_shares(monkeypatch: Any):
    set_for: list[Any] = []

    def limit(connection: Any) -> bool:
        set_for.append(connection)
        return False

    monkeypatch.setattr(base, "limit", limit)
    monkeypatch.setattr(
        base.DatabaseWrapper.__mro__[1], "_configure_connection", lambda self, connection: False
    )

    for is_pooled in (True, False):
        wrapper = base.DatabaseWrapper({"NAME": "x", "DISABLE_SERVER_SIDE_CURSORS": is_pooled})
        wrapper._configure_connection(str(is_pooled))

    assert set_for == ["False"]
