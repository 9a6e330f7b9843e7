"""Calls the hooks that only observe a run, one after another in the background."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.records import private_names
from apps.agent.tools import Tool, Toolbox, ToolResult
from apps.capabilities.hooks.calls import PlannedHook, call_hook
from apps.capabilities.registry import CompletedAnswer, Contribution, Opening
from apps.capabilities.wrappers.arguments import recorded_arguments

logger = logging.getLogger(__name__)

MOST_WAITING = 200
"""A run queues up to this many hook calls, and drops further calls."""
CLOSING_SECONDS = 30.0
STOPPED_SECONDS = 5.0
"""After the user has stopped a run, its running hooks have this many seconds to finish. The timeout
is short because the user is waiting.
"""

Watched = tuple[PlannedHook, Mapping[str, Any]]


@dataclass(slots=True)
class Observers:
    """Calls the observing hooks of one run. Results are discarded, and failures are logged."""

    opening: Opening
    planned: Sequence[PlannedHook]
    tools: Mapping[str, Tool]
    """The tools of the hooks, by the hooks' paths in the manifest."""
    private: set[str] = field(default_factory=set)
    """The names of tools whose arguments and results only the user may see."""
    waiting: asyncio.Queue[Watched] = field(default_factory=asyncio.Queue)
    worker: asyncio.Task[None] | None = None
    is_answered: bool = False

    def queue_hooks(self, event: str, **names: Any) -> None:
        """Queue the hooks that observe the event."""
        for one in self.planned:
            if one.hook.event != event or one.path not in self.tools:
                continue
            if self.waiting.qsize() >= MOST_WAITING:
                logger.warning("Hook %s %s was skipped: the queue is full", one.label, event)
                continue
            self.waiting.put_nowait((one, names))
            if self.worker is None:
                self.worker = asyncio.create_task(self.work())

    async def work(self) -> None:
        while True:
            planned, names = await self.waiting.get()
            try:
                tool = self.tools[planned.path]
                await call_hook(
                    planned, tool, self.opening, self.opening.conversation.messages, **names
                )
            finally:
                self.waiting.task_done()

    async def begin(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        """Queue the hooks for the user's message and the run's start, and return the messages
        unchanged.
        """
        self.queue_hooks("on_user_message")
        self.queue_hooks("on_status", status="running")
        return messages

    async def take_result(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Queue the hooks for a tool result, and return the result unchanged."""
        if call.name not in self.private:
            self.queue_hooks(
                "on_tool_result",
                tool_name=call.name,
                tool_arguments=recorded_arguments(call),
                tool_result=result.content,
                has_failed=result.failure is not None,
            )
        return result

    async def finish(self, completed: CompletedAnswer) -> None:
        """Record that the run has answered, and wait for the queued hooks."""
        self.is_answered = True
        await self.wait(CLOSING_SECONDS)

    def learn(self, toolbox: Toolbox) -> None:
        self.private |= private_names(toolbox)

    @asynccontextmanager
    async def watching(self, contribution: Contribution) -> AsyncIterator[Contribution]:
        """Extend the contribution with steps that queue hooks during the run.

        When the run ends, queue the hooks for its final status, and wait for all hooks up to a
        timeout.
        """
        status, seconds = "failed", CLOSING_SECONDS
        try:
            yield replace(
                contribution,
                history=(self.begin, *contribution.history),
                results=(self.take_result,),
                completions=(self.finish, *contribution.completions),
                arrange=(*contribution.arrange, self.learn),
            )
            status = "done" if self.is_answered else "waiting"
        except asyncio.CancelledError:
            status, seconds = "stopped", STOPPED_SECONDS
            raise
        finally:
            self.queue_hooks("on_status", status=status)
            await self.close(seconds)

    async def close(self, seconds: float) -> None:
        await self.wait(seconds)
        if self.worker is not None:
            self.worker.cancel()
            await asyncio.wait((self.worker,))

    async def wait(self, seconds: float) -> None:
        """Wait up to `seconds` for all queued hooks to run."""
        try:
            async with asyncio.timeout(seconds):
                await self.waiting.join()
        except TimeoutError:
            logger.warning("%d hook calls are still queued", self.waiting.qsize() + 1)
