"""Applies the fallback strategies of a manifest to failed tool calls."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.agent.records import log_event
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.stages import show_failure
from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, fence_code, shorten_text
from apps.errors import GENERIC, InvalidParameter, QuickAppError, Stopped, ToolError, ToolTimedOut
from apps.manifest.toolsets.fallback_strategies import (
    AnyStrategy,
    Continue,
    Fallback,
    Retry,
    Stop,
    Trigger,
)
from apps.outages import outage_of

logger = logging.getLogger(__name__)

RETRY: str = Retry.model_fields["instructions"].default
UNEXPECTED = "The tool failed unexpectedly."
ANOTHER_WAY = "Try another way to get what you need, or continue without this tool."
NOT_SHOWN = "An error occurred while executing the tool."


class ShownError(ToolError):
    """Raised for a failure that a stage shows in more detail than the model sees.

    `shown` is Markdown. The arguments in `told` are passed to `ToolError`.
    """

    def __init__(self, message: str, shown: str, **told: Any) -> None:
        super().__init__(message, **told)
        self.shown = shown


@dataclass(frozen=True, slots=True)
class FallbackStep:
    ends: bool
    """True if the run stops. Otherwise, the model receives the error and the `instructions`."""
    trigger: Trigger | None = None
    instructions: str = ""

    def applies(self, text: str, *, explicitly: bool) -> bool:
        """Return True if the strategy applies to a failure with this text. If `explicitly` is True,
        a strategy without a trigger does not apply.
        """
        if self.trigger is None:
            return not explicitly
        return is_triggered(self.trigger, text)


def with_fallback(tool: PreparedTool, fallback: Fallback) -> PreparedTool:
    """Return a tool whose failures are converted to results by the fallback strategies.

    Calls raise `Stopped` if a strategy ends the run or if no strategy applies, and
    `InvalidParameter` for invalid arguments.
    """
    steps = tuple(read_step(strategy, tool.spec.name) for strategy in fallback.strategies)

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        try:
            return await tool.work(opening, invocation)
        except Stopped:
            raise
        except InvalidParameter as error:
            show_failure(invocation.stage, as_markdown(error))
            raise
        except (ToolError, QuickAppError) as error:
            is_timeout = isinstance(error, ToolTimedOut)
            shows = fallback.display_error_in_stage or is_timeout
            show_failure(invocation.stage, as_markdown(error) if shows else f"{NOT_SHOWN}\n")
            return decide(steps, str(error), error, is_timeout=is_timeout)
        except Exception as error:  # noqa: BLE001 - already logged by `with_log`
            outage = outage_of(error)
            text = UNEXPECTED if outage is None else outage.text
            shows = fallback.display_error_in_stage
            show_failure(invocation.stage, f"{text if shows else NOT_SHOWN}\n")
            return decide(steps, text, error, is_timeout=False)

    return replace(tool, work=work)


def read_step(strategy: AnyStrategy, tool_name: str) -> FallbackStep:
    if isinstance(strategy, Stop | Retry):
        instead = "hard_stop" if isinstance(strategy, Stop) else "continue"
        logger.warning(
            "Tool %s: the fallback strategy %r is deprecated; use %r",
            tool_name,
            strategy.type,
            instead,
        )
    if strategy.trigger_on is None and strategy != Continue():
        log_event(logger, "Customised catch-all fallback", tool=tool_name, strategy=strategy.type)
    if not isinstance(strategy, Continue | Retry):
        return FallbackStep(ends=True, trigger=strategy.trigger_on)
    if strategy.trigger_on is not None:
        return FallbackStep(False, strategy.trigger_on, strategy.instructions or "")
    if strategy.instructions and "instructions" in strategy.model_fields_set:
        logger.warning(
            "Tool %s: ignored the instructions of a fallback strategy that has no trigger_on",
            tool_name,
        )
    return FallbackStep(False, instructions=RETRY if isinstance(strategy, Retry) else ANOTHER_WAY)


def decide(
    steps: Sequence[FallbackStep], text: str, error: Exception, *, is_timeout: bool
) -> ToolResult:
    """Return the result for the model after a failure. Raises `Stopped` if a strategy ends the run
    or if no strategy applies.
    """
    for step in steps:
        if step.applies(text, explicitly=is_timeout):
            if step.ends:
                raise Stopped from error
            told = f"{text}\n\n{step.instructions}" if step.instructions else text
            return ToolResult(told, failure=error)
    if is_timeout:
        return ToolResult(text, failure=error)
    raise Stopped(GENERIC if text == UNEXPECTED else text) from error


def is_triggered(trigger: Trigger, text: str) -> bool:
    value = trigger.value
    if not trigger.case_sensitive:
        value, text = value.casefold(), text.casefold()
    return value in text if trigger.type == "contains" else value == text


def as_markdown(error: ToolError | QuickAppError) -> str:
    if isinstance(error, ShownError):
        return error.shown
    return f"> ##### Error:\n\n{fence_code(shorten_text(str(error), ERROR_CHARACTERS), 'text')}\n"
