"""Limits the duration of tool calls, and the length of results for the model."""

from dataclasses import replace

from apps.agent.context.fitter import KeepResult
from apps.agent.time_limits import time_limit
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.errors import ToolTimedOut

RESULT_CHARACTERS = 400_000
"""The maximum number of characters of a result, about 100,000 tokens, which is the entire context
window of most models.
"""
WHOLE_RESULTS = Key[dict[str, str]]("whole_results")
"""The key of the full texts of truncated results, by the ID of the call. It exists only if a
capability requests these texts.
"""

KEEP_RESULT = Key[KeepResult]("keep_result")
"""The key of the function that stores results which do not fit into a request. It exists only if a
capability stores files.
"""


def with_limit(tool: PreparedTool) -> PreparedTool:
    """Return a tool whose result for the model is truncated to `RESULT_CHARACTERS`, with a note
    about the missing length.
    """

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result = await tool.work(opening, invocation)
        if len(result.content) <= RESULT_CHARACTERS:
            return result
        if WHOLE_RESULTS in opening.known:
            opening.known[WHOLE_RESULTS][invocation.id] = result.content
        return replace(result, content=shorten_text(result.content, RESULT_CHARACTERS))

    return replace(tool, work=work)


def with_timeout(tool: PreparedTool, seconds: float) -> PreparedTool:
    """Return a tool with a timeout. Its calls raise `ToolTimedOut`, also for a timeout within the
    tool.
    """

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
