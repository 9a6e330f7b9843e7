"""What a page answers to a call: `{"outcome": "done", "result": JSON}`, `{"outcome": "failed",
"error": "…"}`, or `{"outcome": "timeout"}` when there was no answer in time.
"""

import json

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.arguments import Arguments
from apps.capabilities.wrappers.internal import show_result
from apps.capabilities.wrappers.texts import ERROR_CHARACTERS, fenced, shortened
from apps.errors import ToolError

TIMED_OUT = (
    "The page did not answer in time. The tool may have been carried out all the same: check that "
    "before you call it again."
)
FAILED = "The page could not carry it out: "


async def result_of(arguments: Arguments, opening: Opening, invocation: Invocation) -> ToolResult:
    """The result for the model, from what the page answered. Raises `ToolError`."""
    answered = invocation.answers.get("client_tool")
    if answered is None:  # nothing was asked, because the arguments are wrong
        arguments.check(invocation.arguments)
    answer = (answered and answered.answer) or {}
    if answer.get("outcome") == "timeout":
        raise ToolError(TIMED_OUT, is_lasting=True)
    if answer.get("outcome") != "done":
        raise ToolError(FAILED + shortened(str(answer.get("error") or "?"), ERROR_CHARACTERS))
    result = answer.get("result")
    if isinstance(result, str):
        show_result(invocation, fenced(result, ""))
        return ToolResult(result, "text/plain")
    text = json.dumps(result, ensure_ascii=False)
    show_result(invocation, fenced(text, "json"))
    return ToolResult(text, "application/json")
