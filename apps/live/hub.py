"""Defines the hub of a process, which holds its active runs, their streams, and the writers of
their database rows.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Coroutine
from dataclasses import InitVar, dataclass, field
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

from apps.errors import QuickAppError
from apps.insights.budgets.process import ProcessBudgets
from apps.live.database import Execute, OwnThread, on_a_thread
from apps.live.history.summary_writer import RunSummaryWriter
from apps.live.journal.committer import Committer
from apps.live.limits.quotas import RunSlots
from apps.live.streams import LiveStreams
from apps.process_state import on_reset

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Stoppable(Protocol):
    def stop(self) -> None: ...

    def stop_subagent(self, key: str) -> bool: ...

    def stop_before_next_call(self) -> None: ...

    def hand_over(self, seconds: float) -> None: ...


def name_of_process() -> str:
    """Return a unique name for this process."""
    return f"{socket.gethostname()[:50]}-{os.getpid()}-{uuid4().hex[:12]}"


@dataclass(slots=True)
class Hub:
    """The state of one process: its active runs, streams and row writers. Tests create several hubs
    to simulate several processes.
    """

    execute: Execute = on_a_thread
    execute_budgets: InitVar[Execute] = on_a_thread
    execute_summaries: InitVar[Execute] = on_a_thread
    name: str = field(default_factory=name_of_process)
    """The name of the process in the leases of its runs."""
    streams: LiveStreams = field(default_factory=LiveStreams)
    supervisors: dict[UUID, Stoppable] = field(default_factory=dict)
    """The supervisors of the active runs, by the stream's ID."""
    # asyncio holds only weak references to tasks.
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    is_closing: bool = False
    """True if the process is stopping and therefore starts no answers and resumes no runs."""
    is_closed: bool = False
    """True if the process sends no further events. Viewers disconnect after the last event."""
    awaited: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a run is waiting for a process to resume it."""
    has_queue: bool = False
    """True if the last sweep found queued runs. If so, each ended run triggers another sweep."""
    slots: RunSlots = field(init=False)
    committer: Committer = field(init=False)
    budgets: ProcessBudgets = field(init=False)
    summaries: RunSummaryWriter = field(init=False)

    def __post_init__(self, execute_budgets: Execute, execute_summaries: Execute) -> None:
        self.slots = RunSlots(self.supervisors)
        self.committer = Committer(self.name, self.execute, self.hold)
        self.budgets = ProcessBudgets(execute_budgets)
        self.summaries = RunSummaryWriter(execute_summaries, self.budgets)

    def hold(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run a coroutine in a task to its end, even if the caller is canceled. Unexpected errors
        are logged; a `QuickAppError` is not.
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

    def forget(self) -> None:
        """Drop cached budgets and queued rows."""
        self.budgets.forget()
        self.summaries.forget()


HUB = Hub(OwnThread("committer"), OwnThread("budgets"), OwnThread("summaries"))
"""The hub of this process. The committer, the budgets and the summaries each have a separate
database thread, so that they do not delay each other.
"""
on_reset(HUB.forget)
