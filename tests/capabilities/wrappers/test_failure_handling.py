"""The strategy that applies when a tool fails, and the errors for the model and the user."""

import asyncio
import errno
import logging
from typing import Any

import pytest
from django.db import OperationalError

from apps.agent.events import Event
from apps.agent.tools import ToolResult
from apps.capabilities.registry import PreparedTool
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.failure_handling import ShownError, with_fallback
from apps.capabilities.wrappers.logs import with_log
from apps.capabilities.wrappers.stages import with_stage
from apps.errors import GENERIC, FileRefused, InvalidParameter, Stopped, ToolError, ToolTimedOut
from apps.manifest.toolsets.fallback_strategies import Fallback
from apps.outages import DATABASE, STORAGE
from tests.capabilities.manifests import stage_text
from tests.capabilities.wrappers.calls import failing, saying, use
from tests.contract import proves
from tests.tables import each_row

REFUSED = ToolError("The account is suspended (429)")
LATE = ToolTimedOut("look_up", 5)


def guarded(error: BaseException, *strategies: dict[str, Any], **rest: Any) -> PreparedTool:
    written = {"strategies": strategies, **rest} if strategies else rest
    return with_fallback(failing(error), Fallback.model_validate(written))


def on(kind: str, value: str, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "value": value, **rest}


OTHERWISE = "\n\nTry another way to get what you need, or continue without this tool."
AGAIN = "\n\nThe tool failed. Find out why, correct the call and try it again."
STOP = {"type": "hard_stop"}
GO_ON = {"type": "continue"}


async def test_a_tool_that_works_is_left_alone():
    tool = with_fallback(saying("fine"), Fallback.model_validate({"strategies": [STOP]}))

    assert await use(tool) == ToolResult("fine")


@proves("13.1", "13.2", "R-03")
@each_row(
    ("strategies", "content"),
    [
        ([], f"The account is suspended (429){OTHERWISE}"),
        ([GO_ON, STOP], f"The account is suspended (429){OTHERWISE}"),
        ([{**GO_ON, "instructions": "Wait."}], f"The account is suspended (429){OTHERWISE}"),
        (
            [{**GO_ON, "instructions": "Wait.", "trigger_on": on("contains", "SUSPENDED")}],
            "The account is suspended (429)\n\nWait.",
        ),
        (
            [{**GO_ON, "instructions": "No.", "trigger_on": on("equals", "suspended")}, GO_ON],
            f"The account is suspended (429){OTHERWISE}",
        ),
        (
            [{**GO_ON, "trigger_on": on("equals", "the account is suspended (429)")}],
            "The account is suspended (429)",
        ),
        (
            [{**STOP, "trigger_on": on("contains", "SUSPENDED", case_sensitive=True)}, GO_ON],
            f"The account is suspended (429){OTHERWISE}",
        ),
        ([{"type": "retry"}], f"The account is suspended (429){AGAIN}"),
        ([{"type": "retry", "instructions": "Wait."}], f"The account is suspended (429){AGAIN}"),
        (
            [{"type": "retry", "trigger_on": on("contains", "429")}],
            f"The account is suspended (429){AGAIN}",
        ),
        (
            [{"type": "retry", "instructions": "Again.", "trigger_on": on("contains", "429")}],
            "The account is suspended (429)\n\nAgain.",
        ),
    ],
)
async def test_the_first_strategy_that_applies_tells_the_model(strategies, content):
    assert await use(guarded(REFUSED, *strategies)) == ToolResult(content)


@proves("13.2")
@pytest.mark.parametrize(
    "strategies",
    [[STOP], [{"type": "stop"}], [{**STOP, "trigger_on": on("contains", "suspended")}, GO_ON]],
)
async def test_a_run_ends_where_a_strategy_says_so(strategies):
    with pytest.raises(Stopped) as stopped:
        await use(guarded(REFUSED, *strategies))

    assert str(stopped.value) == (
        "A tool encountered an error and the agent was stopped. "
        "Please try again or contact your administrator if the issue persists."
    )
    assert stopped.value.__cause__ is REFUSED


ELSE = {**GO_ON, "trigger_on": on("contains", "something else")}


@proves("13.2")
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (REFUSED, "The account is suspended (429)"),
        (FileRefused("It is too large."), "It is too large."),
        (KeyError("s3cret"), GENERIC),
    ],
)
async def test_where_no_strategy_applies_the_run_ends_in_the_words_of_the_failure(error, text):
    for fallback in (Fallback(strategies=()), Fallback.model_validate({"strategies": [ELSE]})):
        with pytest.raises(Stopped) as stopped:
            await use(with_fallback(failing(error), fallback))

        assert (str(stopped.value), stopped.value.__cause__) == (text, error)


@proves("13.3")
@pytest.mark.parametrize(
    ("strategies", "added"),
    [
        ([], ""),
        ([STOP], ""),
        ([{**STOP, "trigger_on": on("contains", "429")}], ""),
        (
            [{**GO_ON, "instructions": "Ask less.", "trigger_on": on("contains", "timed out")}],
            "\n\nAsk less.",
        ),
    ],
)
async def test_a_time_out_passes_by_strategies_without_a_trigger(strategies, added):
    assert await use(guarded(LATE, *strategies)) == ToolResult(f"{LATE}{added}")


@proves("13.3")
async def test_a_time_out_ends_the_run_where_a_trigger_names_it():
    with pytest.raises(Stopped):
        await use(guarded(LATE, {**STOP, "trigger_on": on("contains", "timed out")}))


@proves("6.2")
async def test_an_invalid_parameter_passes_by_every_strategy():
    events: list[Event] = []
    error = InvalidParameter("n", "expected a number.")
    tool = with_stage(guarded(error, STOP, display_error_in_stage=False), Display("T"))

    with pytest.raises(InvalidParameter):
        await use(tool, events.append)

    assert "Parameter n is invalid: expected a number." in stage_text(events)


@proves("6.2", "13.2")
async def test_an_unexpected_failure_is_not_told():
    result = await use(guarded(KeyError("s3cret")))

    assert result == ToolResult(f"The tool failed unexpectedly.{OTHERWISE}")


@each_row(
    ("error", "text"),
    [
        (OSError(errno.EROFS, "Read-only file system", "/srv/files/a"), STORAGE.text),
        (OperationalError("connection to 10.0.0.3 refused"), DATABASE.text),
    ],
)
async def test_an_outage_is_told_without_its_details(error, text):
    events: list[Event] = []

    result = await use(with_stage(guarded(error), Display("T")), events.append)
    with pytest.raises(Stopped) as stopped:
        await use(guarded(error, {**GO_ON, "trigger_on": on("contains", "suspended")}))

    assert result == ToolResult(f"{text}{OTHERWISE}")
    assert stage_text(events) == f"> #### Request:\n\r{text}\n"
    assert str(stopped.value) == text


@proves("6.2")
async def test_a_call_that_fails_unexpectedly_is_one_line_with_its_traceback(caplog):
    await use(with_fallback(with_log(failing(KeyError("city"))), Fallback()))

    (line,) = caplog.records
    assert line.getMessage().startswith("Tool call failed: name=look_up id=call-1 duration=")
    assert line.getMessage().endswith(" error=KeyError")
    assert line.exc_info is not None


async def test_a_refused_file_is_told_to_the_model():
    assert await use(guarded(FileRefused("It is too large."))) == ToolResult(
        f"It is too large.{OTHERWISE}"
    )


async def test_a_cancellation_passes():
    with pytest.raises(asyncio.CancelledError):
        await use(guarded(asyncio.CancelledError()))


@proves("6.2", "13.3")
@pytest.mark.parametrize(
    ("error", "is_displayed", "shown"),
    [
        (REFUSED, True, "> ##### Error:\n\n```text\nThe account is suspended (429)\n```\n"),
        (REFUSED, False, "An error occurred while executing the tool.\n"),
        (LATE, False, f"> ##### Error:\n\n```text\n{LATE}\n```\n"),
        (ShownError("short", "**long**"), True, "**long**"),
        (ShownError("short", "**long**"), False, "An error occurred while executing the tool.\n"),
        (KeyError("s3cret"), True, "The tool failed unexpectedly.\n"),
        (KeyError("s3cret"), False, "An error occurred while executing the tool.\n"),
    ],
)
async def test_the_stage_shows_the_error_unless_the_manifest_hides_it(error, is_displayed, shown):
    events: list[Event] = []
    tool = guarded(error, display_error_in_stage=is_displayed)

    await use(with_stage(tool, Display("T")), events.append)

    assert stage_text(events) == f"> #### Request:\n\r{shown}"


@proves("13.1", "13.2", "m1.11")
@pytest.mark.parametrize(
    ("strategy", "warning"),
    [
        (
            {"type": "stop"},
            "Tool look_up: the fallback strategy 'stop' is deprecated; use 'hard_stop'",
        ),
        (
            {"type": "retry"},
            "Tool look_up: the fallback strategy 'retry' is deprecated; use 'continue'",
        ),
        (
            {**GO_ON, "instructions": "x"},
            "Tool look_up: ignored the instructions of a fallback strategy that has no trigger_on",
        ),
    ],
)
def test_what_should_be_written_otherwise_is_warned_of_once(strategy, warning, caplog):
    caplog.set_level(logging.WARNING)

    guarded(REFUSED, strategy)

    assert [record.getMessage() for record in caplog.records] == [warning]


@proves("13.2")
@pytest.mark.parametrize(
    ("strategies", "told"),
    [
        ([], []),
        ([GO_ON], []),
        ([{**GO_ON, "trigger_on": on("contains", "x"), "instructions": "y"}], []),
        ([STOP], ["hard_stop"]),
        ([{**GO_ON, "instructions": "x"}], ["continue"]),
        ([{**GO_ON, "retry": {}}, STOP], ["continue", "hard_stop"]),
        ([{"type": "stop"}, {"type": "retry"}], ["stop", "retry"]),
    ],
)
def test_a_customised_catch_all_leaves_a_line_in_the_log(strategies, told, caplog):
    caplog.set_level(logging.INFO, "apps.capabilities.wrappers.failure_handling")

    guarded(REFUSED, *strategies)

    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert lines == [
        f"Customised catch-all fallback: tool=look_up strategy={kind}" for kind in told
    ]
