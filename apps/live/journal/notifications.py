"""Sends messages between processes: new events, and notifications about changes to the journal.

The channel layer can lose messages, so viewers also poll the journal.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer

from apps.live import events
from apps.live.events import TEXTS
from apps.live.journal.log import RunLog
from apps.live.streams import LiveStreams

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
ANNOUNCE_SECONDS = 1.0
WAITING = "waiting-runs"
"""The channel layer group of the processes that can resume runs."""
EVERYBODY = UUID("0d1c2f0e-64f5-4c0e-8f5c-4d5a0c1f7e55")
"""The ID of the stream for announcements to all users."""

OnMessage = Callable[[Mapping[str, Any]], object]
"""A function that receives the messages sent to a group, or {} if messages may have been lost."""


def group(stream: UUID) -> str:
    """Return the channel layer group of the stream's viewers."""
    return f"stream-{stream}"


async def announce_events(log: RunLog) -> None:
    """Send the new events of a log to the stream's viewers in other processes."""
    said = log.after(log.announced)
    is_text = all(isinstance(event, TEXTS) for _, _, event in said)
    if not said or (log.written < log.last and not is_text):
        return  # The next commit writes everything except text to the journal.
    message: dict[str, Any] = {"type": "stream.grew"}
    if log.written < log.last:
        message["run"] = str(log.run)
        message["first"] = log.announced + 1
        message["events"] = [events.write(event) for _, _, event in events.join_texts(said)]
    log.announced = log.last
    try:
        await layer().group_send(group(log.stream), message)
    except Exception:
        logger.exception("Failed to announce new events of %s to other processes", log.stream)


async def wake_viewers(streams: LiveStreams, stream: UUID) -> None:
    """Notify the stream's viewers of new events, in this process and all others."""
    streams.wake(stream)
    await announce_growth(stream)


async def announce_growth(stream: UUID) -> None:
    """Notify the stream's viewers in all processes that the journal has new events."""
    await send(group(stream), "stream.grew")


def listening(streams: LiveStreams, stream: UUID) -> AbstractAsyncContextManager[None]:
    """Return a context manager during which this process receives the stream's events from other
    processes.
    """
    return receiving(group(stream), partial(receive, streams, stream))


def receive(streams: LiveStreams, stream: UUID, message: Mapping[str, Any]) -> None:
    if "events" not in message or stream in streams.logs:
        streams.wake(stream)
        return
    log = RunLog(
        stream, UUID(message["run"]), message["first"], list(map(events.read, message["events"]))
    )
    streams.add_received(log)


def answer_group(run: UUID) -> str:
    """Return the channel layer group of the process that is waiting for an answer in this run."""
    return f"asked-{run}"


async def announce_answer(run: UUID) -> None:
    await send(answer_group(run), "run.answered")


@asynccontextmanager
async def watch_answers(run: UUID) -> AsyncIterator[asyncio.Event]:
    """Yield an event that is set whenever another process announces an answer in this run."""
    heard = asyncio.Event()
    async with receiving(answer_group(run), lambda _: heard.set()):
        yield heard


async def announce_waiting() -> None:
    """Notify all processes that one of them must resume a run."""
    await send(WAITING, "run.waits")


def watch_waiting_runs(awaited: asyncio.Event) -> AbstractAsyncContextManager[None]:
    """Return a context manager during which `awaited` is set whenever a run must be resumed."""
    return receiving(WAITING, lambda _: awaited.set())


async def send(name: str, news: str) -> None:
    """Send a message to a channel layer group. Errors are only logged."""
    try:
        async with asyncio.timeout(ANNOUNCE_SECONDS):
            await layer().group_send(name, {"type": news})
    except Exception:
        logger.exception(
            "Failed to send %s to the group %s; other processes will pick up the change after a short delay",
            news,
            name,
        )


@asynccontextmanager
async def receiving(name: str, on_message: OnMessage) -> AsyncIterator[None]:
    """During the block, call `on_message` with each message to a channel layer group."""
    listener = asyncio.create_task(listen(name, on_message))
    try:
        yield
    finally:
        listener.cancel()
        # A channel layer that does not respond must not block a viewer that disconnects.
        _, stuck = await asyncio.wait([listener], timeout=ANNOUNCE_SECONDS)
        if stuck:
            logger.warning("Timed out while the channel layer was unsubscribing from %s", name)
            listener.cancel()


async def listen(name: str, on_message: OnMessage) -> None:
    while True:
        try:
            await receive_group(name, on_message)
        except Exception:
            logger.exception("Failed to receive messages from other processes; trying again")
            await asyncio.sleep(RETRY_SECONDS)


async def receive_group(name: str, on_message: OnMessage) -> None:
    channel = await layer().new_channel()
    await layer().group_add(name, channel)
    on_message({})  # Earlier announcements may have been missed.
    try:
        while True:
            on_message(await layer().receive(channel))
    finally:
        with suppress(Exception):
            async with asyncio.timeout(ANNOUNCE_SECONDS / 2):
                await layer().group_discard(name, channel)


def layer() -> Any:
    return get_channel_layer()
