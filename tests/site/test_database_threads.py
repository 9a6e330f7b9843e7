"""A statement that waits delays no other work, and is given up after a time."""

from __future__ import annotations

import asyncio
import os
import threading

import psycopg
import pytest
from asgiref.sync import SyncToAsync, sync_to_async
from channels.db import database_sync_to_async
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from quickapps_site import database_threads, housekeeping
from quickapps_site.database_threads import DatabaseThreads
from quickapps_site.postgresql import limits
from quickapps_site.postgresql.limits import Limits
from tests.services import absence

PATIENCE = 30.0


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


@pytest.mark.django_db
def test_sessions_that_have_expired_are_deleted():
    current, expired = SessionStore(), SessionStore()
    for session in (current, expired):
        session.create()
    Session.objects.filter(pk=expired.session_key).update(expire_date=timezone.now())

    housekeeping.tidy_up_sessions()

    assert list(Session.objects.values_list("pk", flat=True)) == [current.session_key]
