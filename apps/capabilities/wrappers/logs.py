"""One line for each tool call: which, how long, and how it failed; never what was said."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.prepared import PreparedTool

logger = logging.getLogger(__name__)


def with_log(tool: PreparedTool) -> PreparedTool:
    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        started = time.monotonic()
        error_name = ""
        try:
            return await tool.work(opening, invocation)
        except BaseException as error:
            error_name = type(error).__name__
            raise
        finally:
            seconds = time.monotonic() - started
            if error_name:
                logger.warning(
                    "Tool call failed: name=%s id=%r seconds=%.3f error=%s",
                    tool.spec.name,
                    invocation.id,
                    seconds,
                    error_name,
                )
            else:
                logger.info(
                    "Tool call completed: name=%s id=%r seconds=%.3f",
                    tool.spec.name,
                    invocation.id,
                    seconds,
                )

    return replace(tool, work=work)
