"""How much of what a tool brought the model gets."""

from __future__ import annotations

from dataclasses import replace

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import shortened

MODEL_CHARACTERS = 400_000
"""About 100,000 tokens: most models' whole window, so more cannot be of use."""
WHOLE = "whole_results"
"""In `Opening.known`: where a text that is cut is left, by the id of its call, if anybody wants it."""


def with_limit(tool: PreparedTool, most: int = MODEL_CHARACTERS) -> PreparedTool:
    """Cut what the model gets, with a notice."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result = await tool.work(opening, invocation)
        if len(result.content) <= most:
            return result
        if (wanted := opening.known.get(WHOLE)) is not None:
            wanted[invocation.id] = result.content
        return replace(result, content=shortened(result.content, most))

    return replace(tool, work=work)
