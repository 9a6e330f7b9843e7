"""§19: log records of a request, without private content."""

from __future__ import annotations

import logging
import re

import pytest

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.records import log_payload
from apps.agent.tools import ToolSpec
from apps.errors import BadRequest, ModelFailed
from apps.runs.failures import failure
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.fakes import ScriptedModel, calling, saying, spec
from tests.runs.test_run import CALL, CALLER, WEATHER, application, with_tools, workspace_of

SECRET = "a secret question"
QUESTION = ModelMessage("user", SECRET, attachments=(Attachment(url="files/x/a.txt"),))


@pytest.fixture(autouse=True)
def _everything(caplog):
    caplog.set_level(logging.INFO, "apps")


async def told(caplog, app, model: ScriptedModel, *, external: dict[str, ToolSpec] | None = None):
    """Return the records of one request with their fields. Durations are True if they are seconds."""
    request = RunRequest((QUESTION,), external or {})
    try:
        await run_application(app, request, workspace_of(model), CALLER, lambda event: None)
    finally:
        assert SECRET not in caplog.text
    return named(caplog)


def named(caplog) -> list[tuple[str, dict[str, object]]]:
    found = [(r.event, dict(r.fields)) for r in caplog.records if hasattr(r, "event")]
    for _, fields in found:
        if "duration" in fields:
            fields["duration"] = isinstance(fields["duration"], float)
    return found


async def test_a_request_leaves_its_events_with_their_fields(caplog):
    model = ScriptedModel(CALL, saying("12 degrees", prompt=9, completion=3))

    assert await told(caplog, with_tools(WEATHER), model) == [
        ("Request received", {"deployment": "app", "messages": 1, "attachments": 1}),
        ("Request initialized", {"tools": 1, "tool_types": [], "skills": 0, "contexts": 0}),
        (
            "Model call completed",
            {
                "iteration": 1,
                "deployment": "gpt",
                "duration": True,
                "finish": "tool_calls",
                "tools": ["weather"],
                "content_length": 0,
                "tokens": 0,
            },
        ),
        (
            "Model call completed",
            {
                "iteration": 2,
                "deployment": "gpt",
                "duration": True,
                "finish": "stop",
                "tools": [],
                "content_length": 10,
                "tokens": 12,
            },
        ),
        (
            "Request completed",
            {
                "outcome": "completed",
                "iterations": 2,
                "tool_calls": 1,
                "duration": True,
                "error_reference": None,
            },
        ),
    ]


async def test_a_line_of_text_has_the_same_fields(caplog):
    await told(caplog, application(), ScriptedModel(saying("Hi")))

    assert caplog.messages[0] == "Request received: deployment=app messages=1 attachments=1"
    assert re.fullmatch(
        r"Request completed: outcome=completed iterations=1 tool_calls=0 duration=\d+\.\d{3} "
        r"error_reference=None",
        caplog.messages[-1],
    )


async def test_calls_of_the_clients_tools_are_an_outcome_of_their_own(caplog):
    model = ScriptedModel(calling(("1", "locate", {})))

    events = await told(caplog, application(), model, external={"locate": spec("locate")})

    assert events[-1][1]["outcome"] == "external_tool_calls"


async def test_the_last_line_of_a_failed_request_has_the_reference_that_the_person_is_shown(caplog):
    with pytest.raises(ModelFailed) as caught:
        await told(caplog, application(), ScriptedModel([ModelFailed("no", status=401)]))

    event, fields = named(caplog)[-1]
    shown = failure(caught.value)
    assert (event, fields["outcome"]) == ("Request completed", "failed")
    assert fields["error_reference"] == shown.reference
    assert shown.text.endswith(f"(error reference: {shown.reference})")


async def test_what_the_request_is_to_blame_for_has_no_reference(caplog):
    with pytest.raises(BadRequest):
        await told(
            caplog, with_tools(WEATHER), ScriptedModel(), external={"weather": spec("weather")}
        )

    assert named(caplog)[-1][1]["error_reference"] is None


async def test_what_was_said_is_logged_only_where_that_is_wanted(caplog):
    await told(caplog, with_tools(WEATHER), ScriptedModel(CALL, saying("12 degrees")))
    assert "[payload]" not in caplog.text

    caplog.set_level(logging.DEBUG, "apps.payloads")
    request = RunRequest((QUESTION,))
    model = ScriptedModel(CALL, saying("12 degrees"))
    await run_application(
        with_tools(WEATHER), request, workspace_of(model), CALLER, lambda event: None
    )

    said = [r.getMessage() for r in caplog.records if r.name == "apps.payloads"]
    assert [line.partition(": ")[0] for line in said] == [
        "[payload] messages for the model",
        "[payload] answer of the model",
        "[payload] arguments of weather",
        "[payload] result of weather",
        "[payload] messages for the model",
        "[payload] answer of the model",
    ]
    assert said[2:4] == [
        '[payload] arguments of weather: {"city": "Riga"}',
        "[payload] result of weather: Riga: 12",
    ]


def test_what_nobody_reads_is_not_put_together():
    def never() -> str:
        raise AssertionError("nobody asked")

    log_payload("anything", never)
