"""How long a tool may work, and how much of its result the model gets."""

from dataclasses import replace

from django.conf import settings

from apps.agent.context_fitter import KeepResult
from apps.agent.time_limits import time_limit
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import shortened
from apps.errors import ToolTimedOut

WHOLE_RESULTS = Key[dict[str, str]]("whole_results")
"""Texts that were cut, by the id of their call: kept only where a capability asked for them."""

KEEP_RESULT = Key[KeepResult]("keep_result")
"""Where results go for which a request has no room any more: only where a capability keeps files."""


def with_limit(tool: PreparedTool) -> PreparedTool:
    """Cut what the model gets at `TOOL_RESULT_CHARACTERS`, and say how much is missing."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result = await tool.work(opening, invocation)
        most = settings.TOOL_RESULT_CHARACTERS
        if len(result.content) <= most:
            return result
        if WHOLE_RESULTS in opening.known:
            opening.known[WHOLE_RESULTS][invocation.id] = result.content
        return replace(result, content=shortened(result.content, most))

    return replace(tool, work=work)


def with_timeout(tool: PreparedTool, seconds: float) -> PreparedTool:
    """Raises `ToolTimedOut`, also for a time-out of the tool's own."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        try:
            async with time_limit(seconds):
                return await tool.work(opening, invocation)
        except TimeoutError:
            raise ToolTimedOut(tool.spec.name, seconds) from None
        except ExceptionGroup as group:
            if group.subgroup(TimeoutError) is None:
                raise
            raise ToolTimedOut(tool.spec.name, seconds) from None

    return replace(tool, work=work)
