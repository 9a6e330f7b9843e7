"""What processes tell each other: text that is not in the journal yet, and that the journal grew.

The channel layer may lose a message, so viewers look into the journal now and then without one.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
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

Hear = Callable[[Mapping[str, Any]], object]
"""Takes what a group is told, and {} in the place of all that it was told before."""


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
    await tell(group(stream), "stream.grew")


class Listener(Protocol):
    """The part of a hub that hears of other processes."""

    @property
    def logs(self) -> Mapping[UUID, RunLog]: ...

    def hear(self, log: RunLog) -> None: ...

    def wake(self, stream: UUID) -> None: ...


def listening(hub: Listener, stream: UUID) -> AbstractAsyncContextManager[None]:
    """During the block, wake the hub's viewers when another process announces new events."""
    return hearing(group(stream), partial(take, hub, stream))


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
    await tell(asked_group(run), "run.answered")


@asynccontextmanager
async def hearing_of_answers(run: UUID) -> AsyncIterator[asyncio.Event]:
    """The event is set whenever a process announces an answer to the run."""
    heard = asyncio.Event()
    async with hearing(asked_group(run), lambda _: heard.set()):
        yield heard


async def announce_waiting() -> None:
    """Tell all processes that a run waits for one of them."""
    await tell(WAITING, "run.waits")


def hearing_of_waiting(awaited: asyncio.Event) -> AbstractAsyncContextManager[None]:
    """During the block, set the event whenever a process announces a run that waits."""
    return hearing(WAITING, lambda _: awaited.set())


async def tell(name: str, news: str) -> None:
    """Tell a group of the channel layer, or the log that it could not be told."""
    try:
        async with asyncio.timeout(ANNOUNCE_SECONDS):
            await layer().group_send(name, {"type": news})
    except Exception:
        logger.exception("%s could not be announced to %s; it is found a little later", news, name)


@asynccontextmanager
async def hearing(name: str, hear: Hear) -> AsyncIterator[None]:
    """During the block, hear what a group of the channel layer is told."""
    listener = asyncio.create_task(listen(name, hear))
    try:
        yield
    finally:
        listener.cancel()
        # A layer that does not answer any more must not hold whoever leaves.
        _, stuck = await asyncio.wait([listener], timeout=ANNOUNCE_SECONDS)
        if stuck:
            logger.warning("The channel layer does not let go of %s", name)
            listener.cancel()


async def listen(name: str, hear: Hear) -> None:
    while True:
        try:
            await hear_group(name, hear)
        except Exception:
            logger.exception("Other processes cannot be heard; trying again")
            await asyncio.sleep(RETRY_SECONDS)


async def hear_group(name: str, hear: Hear) -> None:
    channel = await layer().new_channel()
    await layer().group_add(name, channel)
    hear({})  # what was announced before now was not heard
    try:
        while True:
            hear(await layer().receive(channel))
    finally:
        with suppress(Exception):
            async with asyncio.timeout(ANNOUNCE_SECONDS / 2):
                await layer().group_discard(name, channel)


def layer() -> Any:
    return get_channel_layer()
