"""Holds the newest events of this process's runs, and the viewers in this process.

No function here blocks: a run appends events to its log, which wakes the viewers. Viewers have no
queues. They read from the log, or from the journal if the log no longer contains the next event.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

from apps.live.journal.log import RunLog

LOST_LOG_SECONDS = 60.0
"""If a run could not be stored, its log remains available to viewers for this many seconds."""


@dataclass(slots=True)
class LiveStreams:
    """The logs and viewers of the streams that are live in a process."""

    logs: dict[UUID, RunLog] = field(default_factory=dict)
    """The logs of this process's runs, by stream."""
    received: dict[UUID, RunLog] = field(default_factory=dict)
    """The logs received from other processes, by stream."""
    viewers: dict[UUID, set[asyncio.Event]] = field(default_factory=dict)
    """The asyncio events that wake viewers, by stream."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a viewer disconnects."""

    def add(self, log: RunLog) -> None:
        log.wake = lambda: self.wake(log.stream)
        self.logs[log.stream] = log

    def remove(self, log: RunLog) -> None:
        """Remove the log of a run whose events are all in the journal."""
        if self.logs.get(log.stream) is log:
            del self.logs[log.stream]
        self.wake(log.stream)

    def remove_later(self, log: RunLog) -> None:
        asyncio.get_running_loop().call_later(LOST_LOG_SECONDS, self.remove, log)

    def add_received(self, log: RunLog) -> None:
        """Add events that another process sent. Events after a gap replace the earlier ones."""
        before = self.received.get(log.stream)
        if before is None or before.run != log.run or log.first > before.last + 1:
            self.received[log.stream] = log
        elif log.first == before.last + 1:
            for event in log.events:
                before.append(event)
            before.mark_written(before.last)
        self.wake(log.stream)

    def wake_all(self) -> None:
        for stream in self.viewers:
            self.wake(stream)

    async def wait_for_viewers(self, seconds: float) -> None:
        """Wait up to `seconds` for a viewer to disconnect."""
        self.left.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.left.wait()

    def wake(self, stream: UUID) -> None:
        for news in self.viewers.get(stream, ()):
            news.set()

    @contextmanager
    def watch(self, stream: UUID) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever the stream may have new events."""
        news = asyncio.Event()
        self.viewers.setdefault(stream, set()).add(news)
        try:
            yield news
        finally:
            self.viewers[stream].discard(news)
            if not self.viewers[stream]:
                del self.viewers[stream]
                self.received.pop(stream, None)
            self.left.set()
