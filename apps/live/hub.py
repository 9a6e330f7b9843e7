"""The runs of this process: their supervisors, their newest events, and their viewers.

Nothing here waits: a run appends to its log, and the viewers of its stream are woken. Viewers have
no queue of their own; each reads from the log, or from the journal when it lags behind the log.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

from apps.errors import QuickAppError
from apps.insights.budgets.process import ProcessBudgets
from apps.live.committer import Committer
from apps.live.database import Execute, OwnThread, on_a_thread
from apps.live.log import RunLog
from apps.live.places import Places
from apps.live.summary_writer import SummaryWriter

logger = logging.getLogger(__name__)

T = TypeVar("T")

LOST_LOG_SECONDS = 60.0
"""The log of a run that could not be stored stays for the viewers who are here."""


class Stoppable(Protocol):
    def stop(self) -> None: ...

    def stop_helper(self, key: str) -> bool: ...

    def begin_no_step(self) -> None: ...

    def hand_over(self, seconds: float) -> None: ...


def name_of_process() -> str:
    """A name that no other process has or had."""
    return f"{socket.gethostname()[:50]}-{os.getpid()}-{uuid4().hex[:12]}"


@dataclass(slots=True)
class Hub:
    """One for each process; tests make more of them to be several processes."""

    execute: Execute = on_a_thread
    execute_budgets: Execute = on_a_thread
    execute_summaries: Execute = on_a_thread
    name: str = field(default_factory=name_of_process)
    """The holder of its runs."""
    logs: dict[UUID, RunLog] = field(default_factory=dict)
    """By stream, as supervisors and viewers are."""
    heard: dict[UUID, RunLog] = field(default_factory=dict)
    """What other processes told of streams that have viewers here."""
    supervisors: dict[UUID, Stoppable] = field(default_factory=dict)
    # asyncio itself holds tasks by weak references only.
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    viewers: dict[UUID, set[asyncio.Event]] = field(default_factory=dict)
    is_closing: bool = False
    """The process is about to end: it takes no more questions, and no runs of others."""
    is_closed: bool = False
    """No more events will follow; viewers leave when they have got all there are."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a viewer has left."""
    awaited: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a run waits for a process that goes on with it."""
    has_queue: bool = False
    """Whether runs were queued when this process last looked: the end of one makes room."""
    places: Places = field(init=False)
    committer: Committer = field(init=False)
    budgets: ProcessBudgets = field(init=False)
    summaries: SummaryWriter = field(init=False)

    def __post_init__(self) -> None:
        self.places = Places(self.supervisors)
        self.committer = Committer(self.name, self.execute, self.hold)
        self.budgets = ProcessBudgets(self.execute_budgets)
        self.summaries = SummaryWriter(self.execute_summaries, self.budgets)

    def hold(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run a coroutine to its end, also when nobody waits for it any more.

        Errors are logged, except refusals, which whoever awaits the task reports.
        """
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.drop_task)
        return task

    def drop_task(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, QuickAppError):
            logger.error("A background task failed: %s", task.get_coro(), exc_info=error)

    def add(self, log: RunLog) -> None:
        log.wake = lambda: self.wake(log.stream)
        self.logs[log.stream] = log

    def remove(self, log: RunLog) -> None:
        """Forget a log whose events are all in the journal."""
        if self.logs.get(log.stream) is log:
            del self.logs[log.stream]
        self.wake(log.stream)

    def remove_later(self, log: RunLog) -> None:
        asyncio.get_running_loop().call_later(LOST_LOG_SECONDS, self.remove, log)

    def hear(self, log: RunLog) -> None:
        """Keep what another process told: it continues what it told before, or stands alone."""
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
        """Return when one of them has left, or when the time is over."""
        self.left.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.left.wait()

    def wake(self, stream: UUID) -> None:
        for news in self.viewers.get(stream, ()):
            news.set()

    @contextmanager
    def watch(self, stream: UUID) -> Iterator[asyncio.Event]:
        """The event is set whenever the stream may have something new."""
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


HUB = Hub(OwnThread("committer"), OwnThread("budgets"), OwnThread("summaries"))
"""The hub of this process. A statement of one kind that has to wait delays none of the others."""
