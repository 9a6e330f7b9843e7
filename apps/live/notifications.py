"""What processes tell each other: text that is not in the journal yet, and that the journal grew.

The channel layer may lose a message, so viewers look into the journal now and then without one.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol
from uuid import UUID

from channels.layers import get_channel_layer

from apps.live import events
from apps.live.events import TEXTS
from apps.live.log import RunLog

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
ANNOUNCE_SECONDS = 1.0
WAITING = "waiting-runs"
"""The channel layer's group of the processes that go on with runs of others."""
EVERYBODY = UUID("0d1c2f0e-64f5-4c0e-8f5c-4d5a0c1f7e55")
"""The stream under which news for all callers are announced."""


def group(stream: UUID) -> str:
    """The channel layer's group of the stream's viewers."""
    return f"stream-{stream}"


async def announce(log: RunLog) -> None:
    """Tell the viewers of a stream in all processes what is new since the last time."""
    said = log.after(log.announced)
    is_text = all(isinstance(event, TEXTS) for _, _, event in said)
    if not said or (log.written < log.last and not is_text):
        return  # with the next commit the journal has what is not text
    told: dict[str, Any] = {"type": "stream.grew"}
    if log.written < log.last:
        told["run"] = str(log.run)
        told["first"] = log.announced + 1
        told["events"] = [events.write(event) for _, _, event in events.join(said)]
    log.announced = log.last
    try:
        await layer().group_send(group(log.stream), told)
    except Exception:
        logger.exception("News of %s could not be announced to other processes", log.stream)


async def wake_viewers(hub: "Listener", stream: UUID) -> None:
    """Tell the viewers of a stream, here at once and in other processes, that its journal grew."""
    hub.wake(stream)
    await announce_growth(stream)


async def announce_growth(stream: UUID) -> None:
    """Wake the viewers of a stream in all processes."""
    try:
        async with asyncio.timeout(ANNOUNCE_SECONDS):
            await layer().group_send(group(stream), {"type": "stream.grew"})
    except Exception:
        logger.exception("News of %s could not be announced; they are found a little later", stream)


class Listener(Protocol):
    """The part of a hub that hears of other processes."""

    @property
    def logs(self) -> Mapping[UUID, RunLog]: ...

    def hear(self, log: RunLog) -> None: ...

    def wake(self, stream: UUID) -> None: ...


@asynccontextmanager
async def listening(hub: Listener, stream: UUID) -> AsyncIterator[None]:
    """During the block, wake the hub's viewers when another process announces new events."""
    listener = asyncio.create_task(listen(hub, stream))
    try:
        yield
    finally:
        listener.cancel()
        # A layer that does not answer any more must not hold the viewer who leaves.
        _, stuck = await asyncio.wait([listener], timeout=ANNOUNCE_SECONDS)
        if stuck:
            logger.warning("The channel layer does not let go of %s", stream)
            listener.cancel()


async def listen(hub: Listener, stream: UUID) -> None:
    while True:
        try:
            await hear(hub, stream)
        except Exception:
            logger.exception("Other processes cannot be heard; trying again")
            await asyncio.sleep(RETRY_SECONDS)


async def hear(hub: Listener, stream: UUID) -> None:
    channel = await layer().new_channel()
    await layer().group_add(group(stream), channel)
    hub.wake(stream)  # what was announced before now was not heard
    try:
        while True:
            take(hub, stream, await layer().receive(channel))
    finally:
        with suppress(Exception):
            async with asyncio.timeout(ANNOUNCE_SECONDS / 2):
                await layer().group_discard(group(stream), channel)


def take(hub: Listener, stream: UUID, told: Mapping[str, Any]) -> None:
    if "events" not in told or stream in hub.logs:
        hub.wake(stream)
        return
    heard = RunLog(stream, UUID(told["run"]), told["first"], list(map(events.read, told["events"])))
    hub.hear(heard)


def asked_group(run: UUID) -> str:
    """The channel layer's group of the process whose run waits for an answer while it goes on."""
    return f"asked-{run}"


async def announce_answer(run: UUID) -> None:
    try:
        async with asyncio.timeout(ANNOUNCE_SECONDS):
            await layer().group_send(asked_group(run), {"type": "run.answered"})
    except Exception:
        logger.exception("An answer could not be announced; it is found a little later")


@asynccontextmanager
async def hearing_of_answers(run: UUID) -> AsyncIterator[asyncio.Event]:
    """The event is set whenever a process announces an answer to the run."""
    heard = asyncio.Event()
    listener = asyncio.create_task(hear_group(asked_group(run), heard))
    try:
        yield heard
    finally:
        listener.cancel()
        await asyncio.wait([listener], timeout=ANNOUNCE_SECONDS)


async def announce_waiting() -> None:
    """Tell all processes that a run waits for one of them."""
    try:
        async with asyncio.timeout(ANNOUNCE_SECONDS):
            await layer().group_send(WAITING, {"type": "run.waits"})
    except Exception:
        logger.exception("A run that waits could not be announced; it is found a little later")


async def hear_of_waiting(awaited: asyncio.Event) -> None:
    """Set the event whenever a process announces a run that waits; never returns."""
    await hear_group(WAITING, awaited)


async def hear_group(name: str, heard: asyncio.Event) -> None:
    while True:
        try:
            await hear_messages(name, heard)
        except Exception:
            logger.exception("Other processes cannot be heard; trying again")
            await asyncio.sleep(RETRY_SECONDS)


async def hear_messages(name: str, heard: asyncio.Event) -> None:
    channel = await layer().new_channel()
    await layer().group_add(name, channel)
    heard.set()  # what was announced before now was not heard
    try:
        while True:
            await layer().receive(channel)
            heard.set()
    finally:
        with suppress(Exception):
            async with asyncio.timeout(ANNOUNCE_SECONDS / 2):
                await layer().group_discard(name, channel)


def layer() -> Any:
    return get_channel_layer()
