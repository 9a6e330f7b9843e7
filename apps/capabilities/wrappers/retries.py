"""Retries failed tool calls if the manifest enables this."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from apps.agent.backoff import Backoff
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.failure_handling import is_triggered
from apps.errors import ToolError, ToolTimedOut
from apps.manifest.toolsets.fallback_strategies import AnyStrategy, Attempts, Continue, Fallback

logger = logging.getLogger(__name__)

Wait = Callable[[float], Awaitable[object]]


def with_retries(
    tool: PreparedTool,
    fallback: Fallback,
    seconds: float,
    *,
    is_repeatable: bool,
    wait: Wait = asyncio.sleep,
) -> PreparedTool:
    """Return a tool that retries failed calls as the fallback strategies define. Raises the
    `ToolError` of the last attempt.

    All attempts share the timeout of `seconds`. A tool that is not repeatable is retried only if
    the strategy explicitly allows it.
    """
    if not any(isinstance(s, Continue) and s.retry is not None for s in fallback.strategies):
        return tool

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        deadline = time.monotonic() + seconds
        attempt = 0
        while True:
            attempt += 1
            try:
                return await tool.work(opening, invocation)
            except ToolError as error:
                wanted = find_retry_options(error, fallback.strategies)
                if wanted is None or not (is_repeatable or wanted.any_method):
                    raise
                backoff = Backoff(wanted.attempts, wanted.initial_delay, wanted.max_delay)
                pause = backoff.pause(attempt, error.retry_after, deadline - time.monotonic())
                if pause is None:
                    raise
                log_retry(tool.spec.name, invocation, attempt, wanted.attempts, error, pause)
            await wait(pause)
            invocation.stage.write(f"> Attempt {attempt + 1} of {wanted.attempts}\n\n")

    return replace(tool, work=work)


def find_retry_options(error: ToolError, strategies: Sequence[AnyStrategy]) -> Attempts | None:
    """Return the retry options of the first strategy that applies to the error, or None.

    Timeouts and permanent errors are retried only if a trigger matches them. A call whose answer
    has begun is never retried.
    """
    if error.has_answered:
        return None
    explicitly = isinstance(error, ToolTimedOut) or error.is_lasting
    for strategy in strategies:
        trigger = strategy.trigger_on
        applies = is_triggered(trigger, str(error)) if trigger is not None else not explicitly
        if applies:
            return strategy.retry if isinstance(strategy, Continue) else None
    return None


def log_retry(
    name: str, invocation: Invocation, attempt: int, attempts: int, error: ToolError, pause: float
) -> None:
    logger.warning(
        "Tool call failed, retrying: name=%s id=%r attempt=%d of %d error=%s pause=%.3f",
        name,
        invocation.id,
        attempt,
        attempts,
        type(error).__name__,
        pause,
    )
