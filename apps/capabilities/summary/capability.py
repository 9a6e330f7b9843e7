"""Defines a tool that accepts the model's final answer, so that the model is not called again."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace

from django.utils.translation import gettext_lazy

from apps.agent.messages import ModelMessage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest

TOOL_NAME = "summary"
DESCRIPTION = """Ends your work on this question: the text is shown to the user as the answer, and you are not \
called again. Use it once everything is done, with the whole answer."""
PARAMETERS = parameters({"text": text_parameter("The answer, in Markdown.")}, "text")
SHOWN = "The text was shown to the user as the answer."


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.summary if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    declared = PlatformTool(
        TOOL_NAME,
        DESCRIPTION,
        PARAMETERS,
        gettext_lazy("Answer"),
        "read-only",
        is_system=True,  # No stage at the default level, because the answer shows the same text.
    )
    tool = internal_tool(manifest, declared, sum_up)

    def open_summary(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(Contribution((tool.bind(opening),), tidying=(without_summary,)))

    return open_summary


async def sum_up(opening: Opening, invocation: Invocation) -> ToolResult:
    """End the run with the argument `text` as its answer. Raises `InvalidParameter` if it
    is empty.
    """
    text = str(invocation.arguments["text"]).strip()
    if not text:
        raise InvalidParameter("text", "it is empty. Write the answer.")
    return ToolResult(SHOWN, "text/plain", ends_turn=True, answer=text)


def without_summary(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """Remove the calls to the summary tool and their results, because the answer contains the same
    text.
    """
    gone = {call.id for m in messages for call in m.tool_calls if call.name == TOOL_NAME}
    if not gone:
        return messages
    return [left for message in messages if (left := without_calls(message, gone)) is not None]


def without_calls(message: ModelMessage, gone: set[str]) -> ModelMessage | None:
    if message.tool_call_id in gone:
        return None
    if not any(call.id in gone for call in message.tool_calls):
        return message
    calls = tuple(call for call in message.tool_calls if call.id not in gone)
    return replace(message, tool_calls=calls) if calls else None


summary = Capability("summary", frozenset({"features.summary"}), prepare)
