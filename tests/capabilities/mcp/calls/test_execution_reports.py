"""Tools that run code: our own program, and one with wrong reports."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.agent.events import Event, StageAttachment, StageDelta
from apps.agent.tools import Tool
from apps.capabilities.mcp.capability import mcp
from apps.errors import ToolError
from apps.workspace.local.tools import mcp_servers
from tests.capabilities.manifests import (
    CALLER,
    Files,
    ReadOnlyFiles,
    manifest,
    opened,
    stage_text,
    use,
)
from tests.capabilities.mcp.servers import HERE, nothing_left_over, over_stdio, register
from tests.contract import proves

pytestmark = pytest.mark.django_db

NOTE = "These files are attached for the user: {}. Do not write links to them."


def predefined() -> dict[str, Any]:
    path = Path(settings.BASE_DIR) / "predefined/toolset/py_interpreter_mcp.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@asynccontextmanager
async def our_own(files: Files | None = None) -> AsyncIterator[dict[str, Tool]]:
    async with (
        nothing_left_over(),
        opened(mcp, manifest(predefined()), CALLER, files) as contribution,
    ):
        assert contribution.issues == ()
        yield {tool.spec.name: tool for tool in contribution.tools}


@asynccontextmanager
async def faulty(files: Files | None = None, **rest: Any) -> AsyncIterator[Tool]:
    await register(str(HERE / "reporting.py"))
    toolset = over_stdio(result_format="execution", **rest)
    async with nothing_left_over(), opened(mcp, manifest(toolset), CALLER, files) as contribution:
        assert contribution.issues == ()
        (tool,) = contribution.tools
        yield tool


def session_in(content: str) -> str:
    found = re.search(r'"session_id": "(\w{16})"', content)
    assert found is not None, content
    return found[1]


async def test_our_own_program_needs_no_registration_and_keeps_the_variables_of_a_session():
    async with our_own() as tools:
        first = await use(tools["python_execute_code"], code="x = 20\nprint('hi')")
        session_id = session_in(first.content)
        second = await use(tools["python_execute_code"], code="x + 1", session_id=session_id)
        gone = await use(tools["python_execute_code"], code="x", session_id="a" * 16)

    assert [*tools] == ["python_execute_code", "python_list_session_files", "python_clear_session"]
    assert f"Use session_id '{session_id}' to continue it." in first.content
    assert json.loads(second.content) == {
        "success": True,
        "result": "21",
        "session_info": {"session_id": session_id, "instructions": ""},
    }
    assert isinstance(gone.failure, ToolError)
    assert "SessionExpired: there is no session 'aaaaaaaaaaaaaaaa'." in gone.content


@proves("G-45")
async def test_a_plot_is_attached_to_stage_and_answer_and_the_model_is_told_not_to_link_it():
    figure = '{"data": [], "layout": {}}'
    files, events = Files(), list[Event]()

    async with our_own(files) as tools:
        code = f"for n in range(99): print(n)\nopen('plot.plotly.json', 'w').write('{figure}')"
        result = await use(tools["python_execute_code"], events.append, code=code)

    ((name, kept),) = files.kept.items()
    (attachment,) = result.attachments
    assert kept == (figure.encode(), "application/vnd.plotly.v1+json")
    assert (attachment.type, attachment.title, attachment.url) == (
        "application/vnd.plotly.v1+json",
        "plot.plotly.json",
        f"files/user-7/{name}",
    )
    assert result.propagated == (attachment,)
    assert [e.attachment for e in events if isinstance(e, StageAttachment)] == [attachment]
    assert NOTE.format("plot.plotly.json") in result.content
    assert "kernel://" not in result.content
    text = stage_text(events)
    assert f"```python\n{code}\n```" in text
    assert "more characters)" in text
    assert ("98" in result.content, "98" in text) == (True, False)
    assert "session_id" not in text


async def test_a_row_replaces_the_program_that_comes_with_us_and_can_switch_it_off():
    await register(name="py-interpreter", is_enabled=False)

    async with opened(mcp, manifest(predefined())) as contribution:
        (issue,) = contribution.issues

    assert "The MCP server 'py-interpreter' is not registered or not enabled." in issue.message


async def test_the_program_that_comes_with_us_is_told_nothing_of_this_installation():
    program = await mcp_servers.find("py-interpreter")

    assert (program.is_built_in, program.environment) == (True, ())


async def test_what_a_peer_says_too_late_belongs_to_no_other_call():
    events = list[Event]()

    async with faulty() as tool:
        given_up = asyncio.create_task(use(tool, events.append, code="late"))
        while not any(isinstance(e, StageDelta) and "working" in e.text for e in events):
            await asyncio.sleep(0.01)
        given_up.cancel()
        result = await use(tool, code="next")

    assert json.loads(result.content)["result"] == "next"


@proves("G-43")
async def test_the_list_of_files_says_what_they_are_not_the_resource():
    files = Files()

    async with faulty(files) as tool:
        result = await use(tool, code="wrong type")

    ((name, kept),) = files.kept.items()
    assert name.endswith(".png")
    assert kept == (b"abc", "image/png")
    assert [(one.type, one.title) for one in result.attachments] == [("image/png", "plot.png")]


@proves("G-45")
async def test_names_of_files_that_lead_elsewhere_are_refused():
    files = Files()

    async with faulty(files) as tool:
        result = await use(tool, code="upwards")

    assert [one.title for one in result.attachments] == ["good.csv"]
    assert len(files.kept) == 1
    for name in ("../x.csv", "a\\\\b.csv", "/x.csv"):
        assert (
            f"The file '{name}' was not stored: its name is not a valid file name."
            in result.content
        )


async def test_a_file_that_cannot_be_read_does_not_cost_the_others():
    async with faulty() as tool:
        result = await use(tool, code="missing")

    assert [one.title for one in result.attachments] == ["kept.csv"]
    assert "The file 'gone.csv' was not stored: no such file" in result.content


async def test_a_read_only_folder_of_files_does_not_cost_the_report():
    async with faulty(ReadOnlyFiles()) as tool:
        result = await use(tool, code="wrong type")

    assert (result.failure, result.attachments) == (None, ())
    assert '"result": "wrong type"' in result.content
    assert result.content.endswith(
        "The file 'plot.png' was not stored: The service can’t store files right now."
    )


async def test_files_that_the_manifest_does_not_want_are_not_read():
    async with faulty(attachment={"supported_types": ["text/csv"]}) as tool:
        result = await use(tool, code="wrong type")

    assert result.attachments == ()
    assert (
        "The file 'plot.png' was not stored: the toolset does not allow its type." in result.content
    )


async def test_code_over_the_limit_is_an_ordinary_result_that_says_so():
    async with faulty() as tool:
        result = await use(tool, code="over the limit")

    assert result.failure is None
    read = json.loads(result.content)
    assert (read["success"], read["error"]) == (False, "TimeoutError: stopped")


async def test_a_dead_session_of_another_server_is_a_failure_of_the_tool():
    async with faulty() as tool:
        result = await use(tool, code="dead")

    assert isinstance(result.failure, ToolError)
    assert result.content.startswith("SessionExpired: there is no session 's'.")


async def test_a_result_of_another_shape_is_read_as_any_other():
    async with faulty() as tool:
        result = await use(tool, code="plain")

    assert result.content == "[1, 2]"
