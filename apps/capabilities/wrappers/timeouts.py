"""A tool has so much time; every kind of time-out is told in the same words."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import ToolTimedOut


def with_timeout(tool: PreparedTool, seconds: float) -> PreparedTool:
    """Raises `ToolTimedOut`, also for a time-out of the tool's own."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        try:
            async with asyncio.timeout(seconds):
                return await tool.work(opening, invocation)
        except TimeoutError:
            raise ToolTimedOut(tool.spec.name, seconds) from None
        except ExceptionGroup as group:
            if group.subgroup(TimeoutError) is None:
                raise
            raise ToolTimedOut(tool.spec.name, seconds) from None

    return replace(tool, work=work)
