"""Runs of a process without a model, with scripted events."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from channels.db import database_sync_to_async

from apps.agent.events import TextDelta
from apps.agent.ledger import InteractionRequest
from apps.live.events import StatusChanged, StreamEvent
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.commits import Ending
from apps.live.journal.log import RunLog
from apps.live.models import Run
from apps.live.supervisor import RunOutcome, RunSupervisor

PATIENCE = 60.0


def new_run(**fields: Any) -> Run:
    given = {"stream": uuid4(), "request": uuid4(), "application": "demo", "bucket": "user-1"}
    return Run(**{**given, **fields})


async def held_run(hub: Hub, **fields: Any) -> Run:
    """Return a stored run that this process works on."""
    run = new_run(holder=hub.name, **fields)
    await run.asave(force_insert=True)
    return run


def said(*texts: str) -> tuple[StreamEvent, ...]:
    return tuple(TextDelta(text) for text in texts)


def supervised(
    hub: Hub,
    run: Run,
    stored: list[str] | None = None,
    interactions: Sequence[InteractionRequest] = (),
    first: int = 1,
) -> RunSupervisor:
    """Return the supervisor of a run that ends with its status. Its next event has the number
    `first`."""

    def conclude(outcome: RunOutcome) -> Ending:
        told = (StatusChanged(outcome.status),)
        keep = [] if stored is None else stored
        return Ending(outcome.status, told, lambda: keep.append(outcome.status))

    return RunSupervisor(hub, RunLog(run.stream, run.pk, first), conclude, (), interactions)


async def settled(hub: Hub) -> None:
    async with asyncio.timeout(PATIENCE):
        while hub.tasks:
            await asyncio.wait(hub.tasks)


async def until(is_so: Any) -> None:
    """Wait until a function that queries the database returns True."""
    async with asyncio.timeout(PATIENCE):
        while not await database_sync_to_async(is_so)():
            await asyncio.sleep(0.005)


def texts_of(stream: UUID) -> list[tuple[int, str]]:
    return [
        (number, getattr(event, "text", "") or getattr(event, "status", ""))
        for number, _, event in journal.read(stream, 0)
    ]
