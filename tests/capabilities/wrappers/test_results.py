"""Time, size, attachments and the log of a call."""

import asyncio
import logging

import pytest

from apps.agent.messages import Attachment
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.attachments import with_attachments
from apps.capabilities.wrappers.limits import with_limit, with_timeout
from apps.capabilities.wrappers.logs import with_log
from apps.errors import ToolError, ToolTimedOut
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.workspace.media_types import matches_any
from tests.capabilities.wrappers.calls import SPEC, answering, failing, saying, use
from tests.contract import proves


@proves("13.3", "D-20")
async def test_a_tool_that_never_ends_is_stopped():
    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        await asyncio.Event().wait()
        return ToolResult("")

    with pytest.raises(ToolTimedOut) as error:
        await use(with_timeout(PreparedTool(SPEC, work), 0.01))

    assert str(error.value) == str(ToolTimedOut("look_up", 0.01))


@proves("13.3")
@pytest.mark.parametrize(
    "error",
    [TimeoutError(), ExceptionGroup("x", [ValueError(), ExceptionGroup("y", [TimeoutError()])])],
)
async def test_every_time_out_of_a_tool_is_told_alike(error):
    with pytest.raises(ToolTimedOut):
        await use(with_timeout(failing(error), 5))


@proves("13.3")
async def test_other_failures_pass_the_time_out():
    with pytest.raises(ExceptionGroup):
        await use(with_timeout(failing(ExceptionGroup("x", [ValueError()])), 5))


@proves("6.2", "D-11")
async def test_the_models_copy_is_cut_with_a_notice(monkeypatch):
    monkeypatch.setattr("apps.capabilities.wrappers.limits.RESULT_CHARACTERS", 32_000)
    whole = "x" * 32_000

    assert await use(with_limit(saying(f"{whole}yz"))) == ToolResult(
        f"{whole}\n… (cut: 2 more characters)"
    )
    assert await use(with_limit(saying(whole))) == ToolResult(whole)


PNG = Attachment("image/png", "a", url="files/a")
CSV = Attachment("text/csv", "b", url="files/b")
NONE = Attachment("", "c", url="files/c")


@proves("6.2", "m1.10")
@pytest.mark.parametrize(
    ("wanted", "kept", "shown"),
    [
        ({}, (PNG, CSV), (PNG,)),
        ({"supported_types": ["image/*"]}, (PNG,), (PNG,)),
        ({"supported_types": []}, (), ()),
        ({"supported_types": None, "propagate_types_to_choice": []}, (PNG, CSV), ()),
        ({"propagate_types_to_choice": ["TEXT/CSV"]}, (PNG, CSV), (CSV,)),
        (
            {"media_type_substitution": {"text/csv": "image/x-table"}},
            (PNG, Attachment("image/x-table", "b", url="files/b")),
            (PNG, Attachment("image/x-table", "b", url="files/b")),
        ),
    ],
)
async def test_attachments_are_filtered_then_given_types_then_shown(wanted, kept, shown):
    tool = answering(lambda invocation: ToolResult("ok", attachments=(PNG, CSV, NONE)))

    result = await use(with_attachments(tool, AttachmentFilter.model_validate(wanted)))

    assert result == ToolResult("ok", attachments=kept, propagated=shown)


async def test_pictures_are_in_the_text_instead_of_beside_the_answer():
    tool = answering(lambda invocation: ToolResult("ok", attachments=(PNG, CSV)))
    wanted = AttachmentFilter(propagate_types_to_text=("image/png",))

    result = await use(with_attachments(tool, wanted))

    assert result == ToolResult("ok", attachments=(PNG, CSV), pictures=(PNG,))


@proves("6.2")
async def test_what_a_tool_shows_itself_stays_shown_once():
    tool = answering(
        lambda invocation: ToolResult("ok", attachments=(PNG,), propagated=(CSV, PNG, NONE))
    )

    result = await use(with_attachments(tool, AttachmentFilter()))

    assert result.propagated == (CSV, PNG)


@proves("6.2")
@pytest.mark.parametrize(
    ("media_type", "pattern", "is_match"),
    [
        ("image/png; a=b", "image/png", True),
        ("imagex/png", "image/*", False),
        ("", "*/*", False),
        ("text/plain", "text", False),
    ],
)
def test_types_match_exactly_or_by_their_first_half(media_type, pattern, is_match):
    assert matches_any(media_type, [pattern]) is is_match


@proves("6.2")
async def test_a_call_is_one_line_in_the_log_without_what_was_said(caplog):
    caplog.set_level(logging.INFO)

    await use(with_log(saying("s3cret")), question="s3cret")
    for error in (ToolError("s3cret"), asyncio.CancelledError()):
        with pytest.raises(type(error)):
            await use(with_log(failing(error)))

    lines = [(r.levelname, r.getMessage().split(" duration=")[0]) for r in caplog.records]
    assert lines == [
        ("INFO", "Tool call completed: name=look_up id=call-1"),
        ("WARNING", "Tool call failed: name=look_up id=call-1"),
        ("WARNING", "Tool call failed: name=look_up id=call-1"),
    ]
    assert [r.getMessage().partition("error=")[2] for r in caplog.records] == [
        "",
        "ToolError",
        "CancelledError",
    ]
    assert "s3cret" not in caplog.text
