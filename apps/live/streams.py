"""The newest events of runs and the viewers, in this process.

Nothing here blocks: a run appends to its log, which wakes the viewers. A viewer has no queue; it
reads the log, or the journal if the log has dropped what comes next.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

from apps.live.journal.log import RunLog

LOST_LOG_SECONDS = 60.0
"""The time in seconds for which the log of a run that could not be stored remains available to
viewers.
"""


@dataclass(slots=True)
class LiveStreams:
    """The live streams of a process.

    `logs` are those of its own runs, `heard` the events from other processes, and `viewers` the
    events to set, by stream. `left` is set when a viewer disconnects.
    """

    logs: dict[UUID, RunLog] = field(default_factory=dict)
    heard: dict[UUID, RunLog] = field(default_factory=dict)
    viewers: dict[UUID, set[asyncio.Event]] = field(default_factory=dict)
    left: asyncio.Event = field(default_factory=asyncio.Event)

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

    def hear(self, log: RunLog) -> None:
        """Append events from another process to those already heard, or replace them if there is a
        gap.
        """
        before = self.heard.get(log.stream)
        if before is None or before.run != log.run or log.first > before.last + 1:
            self.heard[log.stream] = log
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
                self.heard.pop(stream, None)
            self.left.set()
