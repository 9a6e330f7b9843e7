"""One call of a hook. Whatever goes wrong, the request goes on without it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agent.messages import Message
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.hooks.conversation import context
from apps.capabilities.hooks.filling import FillingRefused, changes, filled
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.display import Visibility
from apps.capabilities.wrappers.stages import DeferredEmit
from apps.manifest.hooks import Hook

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Planned:
    """A hook of a manifest; `place` is where it stands, `seconds` the time of one call."""

    hook: Hook
    place: str
    seconds: float
    visibility: Visibility

    @property
    def label(self) -> str:
        """For the log and for people."""
        return f"{self.place} ({self.hook.name})" if self.hook.name else self.place


@dataclass(frozen=True, slots=True)
class Fired:
    """What the tool was called with, and what it answered."""

    arguments: Mapping[str, Any]
    result: ToolResult


async def fire(
    planned: Planned, tool: Tool, opening: Opening, messages: Sequence[Message], **counts: int
) -> Fired | None:
    """Call the tool; None, and a line in the log, if that did not work."""
    task = asyncio.current_task()
    try:
        async with asyncio.timeout(planned.seconds):
            arguments = await arguments_of(planned.hook, messages, counts)
            result = await call(planned, tool, opening, arguments, messages)
    except TimeoutError:
        tell_skipped(planned, f"it took longer than {planned.seconds:g} seconds")
    except FillingRefused as refusal:
        tell_skipped(planned, str(refusal))
    except asyncio.CancelledError:
        if task is None or task.cancelling():
            raise
        tell_skipped(planned, "its tool gave up")
    except Exception as error:  # noqa: BLE001 - the tool has told what failed in it
        tell_skipped(planned, f"its tool failed ({type(error).__name__})")
    else:
        opening.spend(result.usage)
        if result.failure is None:
            return Fired(arguments, result)
        tell_skipped(planned, f"its tool failed ({type(result.failure).__name__})")
    return None


def tell_skipped(planned: Planned, why: str) -> None:
    logger.warning("Hook %s %s was skipped: %s", planned.label, planned.hook.event, why)


async def arguments_of(
    hook: Hook, messages: Sequence[Message], counts: Mapping[str, int]
) -> dict[str, Any]:
    """Raises `FillingRefused`."""
    if not changes(hook.arguments):
        return dict(hook.arguments)
    return await filled(hook.arguments, context(hook.event, messages, **counts))


async def call(
    planned: Planned,
    tool: Tool,
    opening: Opening,
    arguments: Mapping[str, Any],
    messages: Sequence[Message],
) -> ToolResult:
    """Shown as the level of stages says for what is done behind the scenes."""
    held = DeferredEmit(opening.emit) if planned.visibility == "failures" else None
    emit = held or (silent if planned.visibility == "never" else opening.emit)
    invocation = Invocation(
        f"hook_{uuid.uuid4().hex[:24]}", arguments, messages, emit, spend=opening.spend
    )
    try:
        result = await tool.call(invocation)
    except Exception:
        if held is not None:
            held.reveal()
        raise
    if held is not None and result.failure is not None:
        held.reveal()
    return result
