"""A single tool call and its outcome."""

from dataclasses import replace

import pytest

from apps.agent.calls import UNEXPECTED, ToolOutcome, call_tool
from apps.agent.messages import ModelMessage, ToolCall, unanswered_calls
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.errors import InvalidParameter, Stopped, ToolError
from tests.contract import proves

CALL = ToolCall("1", "say", '{"word": "hi"}')
WORD = {"word": "hi"}
STOP = Stopped("The service is closed.")


def raising(error: Exception) -> Tool:
    async def fail(invocation: Invocation) -> ToolResult:
        raise error

    return Tool(ToolSpec("say", "", {}), fail)


async def say(invocation: Invocation) -> ToolResult:
    return ToolResult(invocation.arguments["word"])


async def louder(call: ToolCall, result: ToolResult) -> ToolResult:
    return ToolResult(result.content.upper())


async def refusing(call: ToolCall, result: ToolResult) -> ToolResult:
    raise ToolError("there is no room for it.")


async def ending(call: ToolCall, result: ToolResult) -> ToolResult:
    raise STOP


SAY = Tool(ToolSpec("say", "", {}), say)


async def outcome_of(tool: Tool, *results, call: ToolCall = CALL) -> ToolOutcome:
    """Return the outcome without its duration."""
    outcome = await call_tool(tool, call, Invocation(call.id), results)
    assert (outcome.seconds is None) == (outcome.failed == "arguments" and not outcome.arguments)
    return replace(outcome, seconds=None)


async def test_the_result_takes_every_step_on_its_way():
    assert await outcome_of(SAY, louder) == ToolOutcome(ToolResult("HI"), arguments=WORD)


async def test_arguments_that_cannot_be_read_are_the_step_that_failed():
    outcome = await outcome_of(SAY, louder, call=ToolCall("1", "say", "[]"))

    error = "The arguments are a JSON list. Send one JSON object."
    assert outcome == ToolOutcome(ToolResult(f"Error: {error}"), "arguments", error)


async def test_a_parameter_that_a_tool_refuses_is_about_the_arguments():
    error = InvalidParameter("word", "it is rude")

    outcome = await outcome_of(raising(error), louder)

    told = f"Error: {error}\n\nCorrect it and call the tool again."
    assert outcome == ToolOutcome(ToolResult(told), "arguments", str(error), arguments=WORD)


async def test_a_failure_that_a_strategy_took_is_told_although_there_is_a_result():
    async def excused(invocation: Invocation) -> ToolResult:
        return ToolResult("Try later.", failure=ToolError("503"))

    outcome = await outcome_of(Tool(SAY.spec, excused), louder)

    assert outcome == ToolOutcome(
        ToolResult("TRY LATER."), "call", "503", arguments=WORD, tool_failed=True
    )


async def test_a_step_that_refuses_the_result_is_the_one_that_failed():
    outcome = await outcome_of(SAY, louder, refusing)

    error = "there is no room for it."
    assert outcome == ToolOutcome(
        ToolResult(f"Error: {error}"), "result", error, arguments=WORD, tool_failed=True
    )


async def test_a_step_that_finds_a_parameter_wrong_is_still_about_the_result():
    error = InvalidParameter("word", "it cannot be kept")

    async def wrong(call: ToolCall, result: ToolResult) -> ToolResult:
        raise error

    outcome = await outcome_of(SAY, wrong)

    assert (outcome.failed, outcome.error) == ("result", str(error))


@pytest.mark.parametrize(
    ("tool", "results", "step"), [(raising(STOP), (), "call"), (SAY, (ending,), "result")]
)
async def test_an_end_of_the_run_is_told_with_its_step(tool, results, step):
    outcome = await outcome_of(tool, *results)

    assert outcome == ToolOutcome(
        ToolResult(str(STOP)), step, str(STOP), STOP, WORD, tool_failed=True
    )


@proves("G-14")
async def test_an_unexpected_failure_is_told_without_its_details(caplog):
    outcome = await outcome_of(raising(RuntimeError("password=1")), louder)

    assert outcome == ToolOutcome(
        UNEXPECTED, "call", UNEXPECTED.content, arguments=WORD, tool_failed=True
    )
    assert "Tool 'say' failed" in caplog.text


@pytest.mark.parametrize(
    ("messages", "ids"),
    [
        ([], []),
        ([ModelMessage("user", "Hello")], []),
        ([ModelMessage("assistant", tool_calls=(CALL,))], ["1"]),
        (
            [ModelMessage("assistant", tool_calls=(CALL,)), ModelMessage("tool", tool_call_id="1")],
            [],
        ),
        (
            [
                ModelMessage("assistant", tool_calls=(CALL, ToolCall("2", "say", "{}"))),
                ModelMessage("tool", tool_call_id="1"),
            ],
            ["2"],
        ),
        ([ModelMessage("assistant", tool_calls=(CALL,)), ModelMessage("user", "Well?")], []),
    ],
)
def test_calls_without_a_result_are_found_at_the_end_alone(messages, ids):
    assert [call.id for call in unanswered_calls(messages)] == ids
