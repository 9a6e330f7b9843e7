"""Limits the duration of tool calls and the length of their results."""

from dataclasses import replace

from apps.agent.context.fitter import KeepResult
from apps.agent.time_limits import time_limit
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening, PreparedTool
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.errors import ToolTimedOut

RESULT_CHARACTERS = 400_000
"""The maximum length of a result in characters: about 100,000 tokens, the whole context window of
most models.
"""
WHOLE_RESULTS = Key[dict[str, str]]("whole_results")
"""The full texts of truncated results, by call ID. The texts are stored only if a capability has
put a dictionary under this key.
"""

KEEP_RESULT = Key[KeepResult]("keep_result")
"""The function that stores results that do not fit into a request, if a capability provides one."""


def with_limit(tool: PreparedTool) -> PreparedTool:
    """Return a tool whose results are truncated to `RESULT_CHARACTERS`."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result = await tool.work(opening, invocation)
        if len(result.content) <= RESULT_CHARACTERS:
            return result
        if WHOLE_RESULTS in opening.findings:
            opening.findings[WHOLE_RESULTS][invocation.id] = result.content
        return replace(result, content=shorten_text(result.content, RESULT_CHARACTERS))

    return replace(tool, work=work)


def with_timeout(tool: PreparedTool, seconds: float) -> PreparedTool:
    """Return a tool whose calls raise `ToolTimedOut` after `seconds`, or after a timeout within the
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
