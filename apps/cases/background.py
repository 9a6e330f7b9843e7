"""Runs of cases that go on after the request that began them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextvars import Context

from asgiref.sync import async_to_sync

from apps.cases.models import CaseRun
from apps.cases.runner import carry_out
from apps.live.hub import HUB


def carry_out_later(run: CaseRun, cases: Collection[int] | None = None) -> None:
    """Carry the run out on the event loop of this process, in the call of a view."""
    async_to_sync(hold)(run, cases)


async def hold(run: CaseRun, cases: Collection[int] | None) -> None:
    def begin() -> None:
        HUB.hold(carry_out(HUB, run, cases))

    # In a context of its own: that of the request names a thread that ends with it.
    asyncio.get_running_loop().call_soon(begin, context=Context())
