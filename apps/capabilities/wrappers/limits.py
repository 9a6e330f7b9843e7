"""Limits the time of a tool, and the part of its result that the model gets."""

from dataclasses import replace

from apps.agent.context.fitter import KeepResult
from apps.agent.time_limits import time_limit
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.errors import ToolTimedOut

RESULT_CHARACTERS = 400_000
"""A result can have up to this many characters, about 100,000 tokens. That is the entire context
window of most models.
"""
WHOLE_RESULTS = Key[dict[str, str]]("whole_results")
"""Maps the ID of a call to the full text of its truncated result, but only if a capability requests
these texts.
"""

KEEP_RESULT = Key[KeepResult]("keep_result")
"""Stores results that do not fit into a request, but only if a capability stores files."""


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
    """Return a tool with a timeout. Raises `ToolTimedOut`, including for a timeout inside the tool."""

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
