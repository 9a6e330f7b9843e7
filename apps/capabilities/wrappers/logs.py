"""Logs and traces tool calls with their name, duration and error, but without their content."""

import logging
import time
from dataclasses import replace

from apps import tracing
from apps.agent.records import log_event
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.errors import QuickAppError, ToolError

logger = logging.getLogger(__name__)


def with_log(tool: PreparedTool) -> PreparedTool:
    span_name = f"execute_tool {tool.spec.name}"

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        started = time.monotonic()
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool.spec.name,
            "gen_ai.tool.call.id": invocation.id,
            "gen_ai.tool.type": "function",
        }
        try:
            with tracing.span(span_name, attributes):
                result = await tool.work(opening, invocation)
        except BaseException as error:
            log_failure(tool.spec.name, invocation, time.monotonic() - started, error)
            raise
        seconds = time.monotonic() - started
        name, id = tool.spec.name, invocation.id
        log_event(logger, "Tool call completed", name=name, id=id, duration=seconds)
        return result

    return replace(tool, work=work)


def log_failure(name: str, invocation: Invocation, seconds: float, error: BaseException) -> None:
    """Log a failed call, with a traceback if the error is unexpected."""
    is_expected = isinstance(error, ToolError | QuickAppError) or not isinstance(error, Exception)
    log_event(
        logger,
        "Tool call failed",
        level=logging.WARNING,
        traceback=None if is_expected else error,
        name=name,
        id=invocation.id,
        duration=seconds,
        error=type(error).__name__,
    )
