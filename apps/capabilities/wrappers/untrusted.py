"""Tools whose results others may have written."""

from dataclasses import replace

from apps.agent.tools import Invocation, Pending, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.prepared import PreparedTool


def with_untrusted_results(tool: PreparedTool) -> PreparedTool:
    """Taint the run with each result, also with that of a call that fails."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        result: ToolResult | None = None
        try:
            result = await tool.work(opening, invocation)
            return result
        finally:
            # A call that waits for a person has brought nothing yet.
            if not isinstance(result, Pending):
                opening.taint.add(f"results of {tool.spec.name}")

    return replace(tool, work=work)
