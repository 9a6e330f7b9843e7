"""Requests to pages leave connections to PostgreSQL for the doors."""

from __future__ import annotations

import asyncio
import threading

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from psycopg_pool import PoolTimeout

from quickapps_site.postgresql.base import PageShare

PATIENCE = 30.0


async def in_a_request(share: PageShare, seconds: float) -> str:
    async with ThreadSensitiveContext():
        try:
            return str(await sync_to_async(share.acquire)(seconds))
        except PoolTimeout as error:
            return str(error)


def test_pages_hold_only_their_share_and_the_doors_take_nothing_of_it():
    share = PageShare(pool_size=8, threads=6)

    async def requests() -> list[str]:
        return [await in_a_request(share, 0.01) for _ in range(3)]

    assert asyncio.run(requests()) == [
        "True",
        "True",
        "the 2 connections for page requests were in use for 0.01 sec",
    ]
    assert share.acquire(0) is False


def test_a_page_gets_the_connection_that_another_page_gives_back():
    share = PageShare(pool_size=1, threads=6)

    async def requests() -> list[str]:
        first = await in_a_request(share, 0)
        threading.Timer(0.01, share.release).start()
        return [first, await in_a_request(share, PATIENCE)]

    assert asyncio.run(requests()) == ["True", "True"]
