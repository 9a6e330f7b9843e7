"""Hooks that only watch: one after the other beside the run, which never waits for them but at its end."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from apps.agent.messages import Message, ToolCall
from apps.agent.tools import Tool, Toolbox, ToolResult
from apps.capabilities.hooks.calls import PlannedHook, call_hook
from apps.capabilities.registry import Completed, Contribution, Opening
from apps.capabilities.wrappers.arguments import recorded_arguments

logger = logging.getLogger(__name__)

MOST_WAITING = 200
"""Calls of hooks of one run; more are dropped."""
CLOSING_SECONDS = 30.0
STOPPED_SECONDS = 5.0
"""For what still waits when the run was stopped: whoever stopped it waits."""

Watched = tuple[PlannedHook, Mapping[str, Any]]


@dataclass(slots=True)
class Observers:
    """The watching hooks of one run; `tools`: place of a hook → its tool.

    What their tools return is dropped, and a failure is logged and does not stop the next.
    """

    opening: Opening
    planned: Sequence[PlannedHook]
    tools: Mapping[str, Tool]
    private: set[str] = field(default_factory=set)
    """Names of tools whose arguments and results are for the person alone."""
    waiting: asyncio.Queue[Watched] = field(default_factory=asyncio.Queue)
    worker: asyncio.Task[None] | None = None
    is_answered: bool = False

    def tell(self, event: str, **names: Any) -> None:
        """Let the hooks of the event be called when those before them are through."""
        for one in self.planned:
            if one.hook.event != event or one.place not in self.tools:
                continue
            if self.waiting.qsize() >= MOST_WAITING:
                logger.warning("Hook %s %s was skipped: too many wait", one.label, event)
                continue
            self.waiting.put_nowait((one, names))
            if self.worker is None:
                self.worker = asyncio.create_task(self.work())

    async def work(self) -> None:
        while True:
            planned, names = await self.waiting.get()
            try:
                tool = self.tools[planned.place]
                await call_hook(planned, tool, self.opening, self.opening.messages, **names)
            finally:
                self.waiting.task_done()

    async def begin(self, messages: Sequence[Message]) -> Sequence[Message]:
        """A step over the history: the person's message is there, and the work begins."""
        self.tell("on_user_message")
        self.tell("on_status", status="running")
        return messages

    async def take_result(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """A step over results."""
        if call.name not in self.private:
            self.tell(
                "on_tool_result",
                tool_name=call.name,
                tool_arguments=recorded_arguments(call),
                tool_result=result.content,
                has_failed=result.failure is not None,
            )
        return result

    async def finish(self, completed: Completed) -> None:
        """A completion: what was told before the answer is told before its hooks run."""
        self.is_answered = True
        await self.wait(CLOSING_SECONDS)

    def learn(self, toolbox: Toolbox) -> None:
        self.private |= toolbox.private

    @asynccontextmanager
    async def watching(self, contribution: Contribution) -> AsyncIterator[Contribution]:
        """The contribution of hooks that watch beside the given ones. It tells how the run ended, and
        closes when its hooks have ended, or after a time.
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
            self.tell("on_status", status=status)
            await self.close(seconds)

    async def close(self, seconds: float) -> None:
        await self.wait(seconds)
        if self.worker is not None:
            self.worker.cancel()
            await asyncio.wait((self.worker,))

    async def wait(self, seconds: float) -> None:
        """Return when everything was told, or after the time."""
        try:
            async with asyncio.timeout(seconds):
                await self.waiting.join()
        except TimeoutError:
            logger.warning("%d calls of hooks still wait", self.waiting.qsize() + 1)
