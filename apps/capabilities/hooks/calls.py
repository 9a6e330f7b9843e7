"""Calls the tools of hooks. A failed call is only logged, and the run continues."""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agent.messages import ModelMessage
from apps.agent.meter import ToolCallReport
from apps.agent.stages import silent
from apps.agent.tools import Invocation, PendingResult, Tool, Toolbox, ToolResult
from apps.capabilities.hooks.templates import (
    TemplateRefused,
    has_expressions,
    render_template,
    template_context,
)
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.approval import APPROVED
from apps.capabilities.wrappers.display import Visibility
from apps.capabilities.wrappers.stages import DeferredEmit
from apps.errors import ToolError
from apps.manifest.hooks import Hook
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import full_name, in_all_languages, sanitize, visible_name

logger = logging.getLogger(__name__)


def find_tool(hook: Hook, manifest: Manifest, toolbox: Toolbox) -> Tool | None:
    """Return a hook's tool, or None. The tool may be hidden from the model."""
    tools = {**toolbox.hidden, **toolbox.unlisted, **toolbox.listed}
    if hook.toolset_name is None:
        return tools.get(hook.tool_name)
    written = full_name(hook.toolset_name, hook.tool_name)
    exact = next((tool for tool in tools.values() if tool.full_name == written), None)
    exact = exact or tools.get(visible_name(hook.toolset_name, hook.tool_name))
    if exact is not None:
        return exact
    # In a DIAL toolset, tool names begin with the toolset's name in DIAL Core.
    places = {
        f"tool_sets[{index}]"
        for index, toolset in enumerate(manifest.tool_sets)
        if not isinstance(toolset, PredefinedToolSet)
        and hook.toolset_name in in_all_languages(toolset.name)
    }
    ending, written = f"_{sanitize(hook.tool_name)}", f"_{hook.tool_name}"
    found = [
        tool
        for tool in tools.values()
        if tool.toolset in places
        and (
            tool.spec.name == hook.tool_name
            or tool.spec.name.endswith(ending)
            or tool.full_name.endswith(written)
        )
    ]
    return min(found, key=lambda tool: len(tool.spec.name), default=None)


@dataclass(frozen=True, slots=True)
class PlannedHook:
    """A hook in a manifest."""

    hook: Hook
    path: str
    """The hook's path in the manifest, such as `hooks[0]`."""
    seconds: float
    """The timeout for a call, in seconds."""
    visibility: Visibility

    @property
    def label(self) -> str:
        return f"{self.path} ({self.hook.name})" if self.hook.name else self.path


async def call_hook(
    planned: PlannedHook,
    tool: Tool,
    opening: Opening,
    messages: Sequence[ModelMessage],
    **names: Any,
) -> tuple[Mapping[str, Any], ToolResult] | None:
    """Call the hook's tool. Return the arguments and the result, or None if the call fails."""
    task = asyncio.current_task()
    try:
        async with asyncio.timeout(planned.seconds):
            arguments = await arguments_of(planned.hook, messages, names)
            result = await call_tool(planned, tool, opening, arguments, messages)
    except TimeoutError:
        log_skipped(planned, f"it took longer than {planned.seconds:g} seconds")
    except TemplateRefused as refusal:
        log_skipped(planned, str(refusal))
    except asyncio.CancelledError:
        if task is None or task.cancelling():
            raise
        log_skipped(planned, "its tool canceled itself")
    except Exception as error:  # noqa: BLE001 - already logged by the tool
        log_skipped(planned, f"its tool failed ({type(error).__name__})")
    else:
        opening.spend(result.usage)
        if result.failure is None:
            return arguments, result
        log_skipped(planned, f"its tool failed ({type(result.failure).__name__})")
    return None


def log_skipped(planned: PlannedHook, why: str) -> None:
    logger.warning("Hook %s %s was skipped: %s", planned.label, planned.hook.event, why)


async def arguments_of(
    hook: Hook, messages: Sequence[ModelMessage], names: Mapping[str, Any]
) -> dict[str, Any]:
    """Render the templates in the hook's arguments. Raises `TemplateRefused` if a template cannot
    be rendered.
    """
    if not has_expressions(hook.arguments):
        return dict(hook.arguments)
    return await render_template(hook.arguments, template_context(hook.event, messages, **names))


async def call_tool(
    planned: PlannedHook,
    tool: Tool,
    opening: Opening,
    arguments: Mapping[str, Any],
    messages: Sequence[ModelMessage],
) -> ToolResult:
    held = DeferredEmit(opening.emit) if planned.visibility == "failures" else None
    emit = held or (silent if planned.visibility == "never" else opening.emit)
    invocation = Invocation(
        f"hook_{uuid.uuid4().hex[:24]}",
        arguments,
        messages,
        emit,
        spend=opening.spend,
        answers=APPROVED,
    )
    started, has_failed = time.monotonic(), True
    try:
        result = await tool.call(invocation)
        if isinstance(result, PendingResult):
            raise ToolError(result.content)  # A hook cannot ask a user.
        has_failed = result.failure is not None
    except Exception:
        if held is not None:
            held.reveal()
        raise
    finally:
        seconds = time.monotonic() - started
        report = ToolCallReport(tool.spec.name, 0, seconds, has_failed=has_failed)
        opening.meter.tool_called(report)
    if held is not None and result.failure is not None:
        held.reveal()
    return result
