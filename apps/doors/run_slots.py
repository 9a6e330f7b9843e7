"""Executes the runs of API clients: occupies a slot for concurrent runs, records the run, cancels
it if the API key expires, and charges its tokens to the rate limits.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError

from apps.accounts.authentication import find_holder_of
from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.ledger import Ledger
from apps.agent.progress import Progress
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import NotAuthenticated
from apps.live.history.run_rows import RunFigures
from apps.live.interactions import claim_answer
from apps.live.limits.quotas import Rate, RunSlots, spend
from apps.runs.asking_ledger import take_answer
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.port import Workspace

Recorded = Callable[[RunFigures], AbstractContextManager[Progress]]
"""A function that returns a context manager. The context manager records a run and yields its
`Progress`.
"""


@asynccontextmanager
async def hold_caller_slot(slots: RunSlots, caller: Caller, name: str) -> AsyncIterator[None]:
    """Occupy a slot for concurrent runs of the caller, and of the application or deployment `name`.
    Raises `TooManyRuns` if no slot is free.
    """
    with slots.hold(caller.bucket, name):
        async with slots.hold_shared(caller.bucket, name):
            yield


class AdmittedRun(msgspec.Struct, frozen=True):
    """An admitted request that is ready to run. `rates` are the rate limits that its tokens count
    against.
    """

    door: str
    application: ResolvedApplication
    request: RunRequest
    workspace: Workspace
    caller: Caller
    rates: Sequence[Rate] = ()


@asynccontextmanager
async def run_slot(
    run: AdmittedRun, slots: RunSlots, recorded: Recorded
) -> AsyncIterator[Progress]:
    """Occupy a slot for concurrent runs during the block, and record the run.

    Raises `TooManyRuns` if no slot is free. If the caller's key is revoked or expires, the block is
    canceled and `NotAuthenticated` is raised.
    """
    caller, name = run.caller, run.application.slug
    figures = RunFigures(run.door, name, caller.bucket, caller.team)
    # Equivalent to `hold_caller_slot`, but without another generator for each request.
    with slots.hold(caller.bucket, name):
        async with slots.hold_shared(caller.bucket, name):
            with recorded(figures) as progress:
                try:
                    async with while_valid(caller):
                        yield progress
                finally:
                    if run.rates:
                        spend(run.rates, progress.usage)


async def answer_request(run: AdmittedRun, emit: Emit, progress: Progress) -> Ledger:
    """Run the request, and return the run's ledger. If the previous answer ended with a question,
    the newest message can answer it. Raises `QuickAppError` if the run fails.
    """
    application, caller = run.application, run.caller
    asked, ledger = await take_answer(run.request, application, caller, claim_answer)
    await run_application(application, asked, run.workspace, caller, emit, ledger, progress)
    return ledger


logger = logging.getLogger(__name__)


def while_valid(caller: Caller) -> AbstractAsyncContextManager[None]:
    """Return a context manager that cancels its block and raises `NotAuthenticated` when the
    caller's key is revoked or expires.

    The key is checked every `HEARTBEAT_SECONDS`, so short answers need no check.
    """
    return KeyWatch(caller) if caller.kind == "key" else nullcontext()


class KeyWatch:
    # Not a generator, because each waiting stream would have one.
    __slots__ = ("caller", "limit", "task", "timer")

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.limit = asyncio.timeout(None)
        self.task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        await self.limit.__aenter__()
        # A timer takes a tenth of the time that a task takes.
        loop = asyncio.get_running_loop()
        self.timer = loop.call_later(settings.HEARTBEAT_SECONDS, self.begin)

    def begin(self) -> None:
        self.task = asyncio.create_task(end_with_key(self.caller, self.limit))

    async def __aexit__(self, *raised: Any) -> None:
        self.timer.cancel()
        if self.task is not None:
            self.task.cancel()
        try:
            await self.limit.__aexit__(*raised)
        except TimeoutError:
            raise NotAuthenticated from None


async def end_with_key(caller: Caller, limit: asyncio.Timeout) -> None:
    prefix = caller.bucket.removeprefix("key-")
    while True:
        if not await is_valid(prefix):
            limit.reschedule(asyncio.get_running_loop().time())
            return
        await asyncio.sleep(settings.HEARTBEAT_SECONDS)


async def is_valid(prefix: str) -> bool:
    try:
        return await database_sync_to_async(find_holder_of)(prefix) is not None
    except DatabaseError:
        logger.exception("Failed to check the key %s; the answer continues", prefix)
        return True
