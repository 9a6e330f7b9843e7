"""Prepared tools for tests, with scripted behavior."""

from collections.abc import Callable
from typing import Any

from apps.agent.events import Emit
from apps.agent.stages import silent
from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.registry import Opening, PreparedTool
from tests.capabilities.manifests import opening_for

SPEC = ToolSpec("look_up", "Looks it up.", {"type": "object"})


def answering(work: Callable[[Invocation], ToolResult]) -> PreparedTool:
    async def run(opening: Opening, invocation: Invocation) -> ToolResult:
        return work(invocation)

    return PreparedTool(SPEC, run)


def failing(error: BaseException) -> PreparedTool:
    def work(invocation: Invocation) -> ToolResult:
        raise error

    return answering(work)


def saying(text: str) -> PreparedTool:
    return answering(lambda invocation: ToolResult(text))


async def use(tool: PreparedTool, emit: Emit = silent, **arguments: Any) -> ToolResult:
    return await tool.bind(opening_for()).call(Invocation("call-1", arguments, (), emit))
