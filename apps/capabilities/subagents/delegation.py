"""Runs sub-agent tasks with time and concurrency limits, and stops them on request."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings

from apps.agent.ledger import ledger_within
from apps.capabilities.registry import Delegation, Opening
from apps.capabilities.subagents.subagent_output import SubagentOutput
from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, shorten_text
from apps.errors import ModelFailed, QuickAppError, ToolError, ToolTimedOut
from apps.process_state import loop_object

T = TypeVar("T")

HEADING = "> #### Response:\n"
NO_ANSWER = "The sub-agent ended without an answer. Try again, or continue without it."


@dataclass(frozen=True, slots=True)
class SubagentCall:
    """A call that delegates a task to a sub-agent."""

    tool: str
    seconds: float
    """The time limit for the task, in seconds."""
    output: SubagentOutput

    async def answer(self, opening: Opening, delegation: Delegation) -> str | None:
        """Run the sub-agent. Return its final text, or None if it is waiting for a user.

        The time limit starts with the task. Raises `ToolError` or `ToolTimedOut` if the task fails.
        """
        invocation = self.output.invocation
        async with task_slot():
            invocation.stage.write(HEADING)
            with errors_for_model(self.tool, self.seconds):
                async with asyncio.timeout(self.seconds):
                    ledger = ledger_within(invocation.ledger, invocation.key)
                    text = await opening.delegate(delegation, self.output, ledger)
                if text == "":
                    raise ToolError(NO_ANSWER)
                return text


class TaskSlots:
    """Limits how many tasks run concurrently in one process. Tasks start in order of arrival."""

    def __init__(self, count: int) -> None:
        self.semaphore = asyncio.Semaphore(count)

    async def aclose(self) -> None: ...


# This is set within a task. The task's application may call other applications that also have
# tasks. If these nested tasks waited for a free slot, a task could wait for its own end.
_within: ContextVar[TaskSlots | None] = ContextVar("task slots", default=None)
_depth: ContextVar[int] = ContextVar("depth of sub-agents", default=0)


def depth() -> int:
    """Return the nesting depth of the current task: 0 outside a task, 1 in a task, 2 in a nested
    task.
    """
    return _depth.get()


@asynccontextmanager
async def task_slot() -> AsyncIterator[None]:
    most = settings.SUBAGENT_MAX_CONCURRENT_SPAWNS
    slots = _within.get() or loop_object(TaskSlots, lambda: TaskSlots(most))
    async with slots.semaphore:
        token, deeper = _within.set(TaskSlots(1)), _depth.set(_depth.get() + 1)
        try:
            yield
        finally:
            _depth.reset(deeper)
            _within.reset(token)


@contextmanager
def errors_for_model(tool: str, seconds: float) -> Iterator[None]:
    """Within the block, convert sub-agent errors to `ToolError` or `ToolTimedOut`."""
    try:
        yield
    except ToolError:
        raise
    except TimeoutError as error:
        raise ToolTimedOut(tool, seconds) from error
    except QuickAppError as error:
        text = error.display if isinstance(error, ModelFailed) and error.display else str(error)
        raise ToolError(f"{tool}: {shorten_text(text, ERROR_CHARACTERS)}") from error


class SubagentStopped(ToolError):
    """Raised if a user stops only the sub-agent and not the whole answer."""


async def unless_stopped(work: Coroutine[Any, Any, T], wish: asyncio.Event, told: str) -> T:
    """Return the result of `work`. If the event `wish` is set first, cancel `work`, and raise
    `SubagentStopped` with the message `told`.
    """
    task, waiting = asyncio.create_task(work), asyncio.create_task(wish.wait())
    try:
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
    finally:
        waiting.cancel()
        task.cancel()
        await asyncio.wait((task,))  # The work releases its resources before the caller continues.
        if not task.cancelled():
            task.exception()  # The error is retrieved, so that asyncio does not log it.
    raise SubagentStopped(told)
