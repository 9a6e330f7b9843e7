"""The sandbox over MCP: its tools, its sessions, and their files."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from apps.capabilities.interpreter.server import sessions as limits
from apps.capabilities.interpreter.server.sessions import Sessions
from apps.capabilities.interpreter.server.tools import interpreter_server
from tests.contract import proves


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Peer:
    client: Client
    sessions: Sessions
    clock: Clock

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def run(self, code: str, session_id: str = "") -> dict[str, Any]:
        answer = await self.call("execute_code", code=code, session_id=session_id)
        report: dict[str, Any] | None = answer.structured_content
        assert report is not None, answer.content
        return report

    async def start(self, code: str = "None") -> str:
        session_id: str = (await self.run(code))["session_info"]["session_id"]
        return session_id

    async def refusal(self, tool: str, **arguments: Any) -> str:
        answer = await self.call(tool, **arguments)
        assert answer.is_error
        (block,) = answer.content
        assert isinstance(block, types.TextContent)
        return block.text


@asynccontextmanager
async def peer() -> AsyncIterator[Peer]:
    clock = Clock()
    sessions = Sessions(clock)
    async with Client(interpreter_server(sessions)) as client:
        yield Peer(client, sessions, clock)


@proves("G-44")
async def test_the_three_tools_have_their_parameters():
    async with peer() as own:
        found = (await own.client.list_tools()).tools

    assert {tool.name: [*tool.input_schema["properties"]] for tool in found} == {
        "execute_code": ["code", "session_id"],
        "list_session_files": ["session_id"],
        "clear_session": ["session_id"],
    }
    assert found[0].input_schema["required"] == ["code"]
    assert found[0].input_schema["properties"]["session_id"]["default"] == ""
    assert "no numpy" in (found[0].description or "")


@proves("G-44")
async def test_a_report_says_all_there_is_to_know_of_an_execution():
    async with peer() as own:
        report = await own.run("print('hello')\nopen('a b.csv', 'w').write('1,2')\n6 * 7")

    session_id = report["session_info"]["session_id"]
    assert len(session_id) == 16
    assert report == {
        "success": True,
        "output": ["hello\n"],
        "result": "42",
        "error": None,
        "traceback": [],
        "files": [
            {
                "uri": f"kernel://{session_id}/a%20b.csv",
                "mime_type": "text/csv",
                "name": "a b.csv",
                "size": 3,
            }
        ],
        "session_info": {
            "session_id": session_id,
            "instructions": (
                f"A new session was started. Use session_id {session_id!r} to continue it."
            ),
        },
    }


async def test_a_failure_of_the_code_is_a_report_too():
    async with peer() as own:
        report = await own.run("print('before')\n1 / 0")

    assert (report["success"], report["output"]) == (False, ["before\n"])
    assert report["error"] == "ZeroDivisionError: division by zero"
    assert report["traceback"][0] == "Traceback (most recent call last):"


@proves("G-44")
@pytest.mark.parametrize("asked", ["", "0"])
async def test_an_empty_id_and_0_start_a_session(asked):
    async with peer() as own:
        first, second = await own.run("1", asked), await own.run("1", asked)

    ids = {report["session_info"]["session_id"] for report in (first, second)}
    assert len(ids) == 2


@proves("G-44")
async def test_variables_and_files_stay_in_their_session():
    async with peer() as own:
        one, other = await own.start("x = 1"), await own.start("x = 2")
        await own.run("open('n.txt', 'w').write(str(x))", one)
        again = await own.run("open('n.txt').read(), x", one)
        elsewhere = await own.run("open('n.txt')", other)

    assert again["result"] == "('1', 1)"
    assert again["session_info"] == {"session_id": one, "instructions": ""}
    assert elsewhere["error"].startswith("FileNotFoundError")


async def test_the_files_of_a_session_are_listed_and_read_with_their_types():
    code = "from pathlib import Path\nPath('sub').mkdir()\nPath('sub/p.png').write_bytes(b'abc')"
    async with peer() as own:
        session_id = await own.start(code)
        answer = await own.call("list_session_files", session_id=session_id)
        uri = f"kernel://{session_id}/sub/p.png"
        read = (await own.client.read_resource(uri)).contents
        await own.run("Path('sub/p.png').unlink()", session_id)
        after = await own.call("list_session_files", session_id=session_id)

    listed = {"uri": uri, "mime_type": "image/png", "name": "sub/p.png", "size": 3}
    assert answer.structured_content == {"session_id": session_id, "files": [listed]}
    assert read == [
        types.BlobResourceContents(
            uri=uri, mime_type="image/png", blob=base64.b64encode(b"abc").decode()
        )
    ]
    assert after.structured_content == {"session_id": session_id, "files": []}


@pytest.mark.parametrize("name", ["../x", "%2e%2e/x", "..%2Fx", "/etc/passwd", "%2Fetc%2Fpasswd"])
async def test_names_that_lead_out_of_a_session_are_refused(name):
    async with peer() as own:
        session_id = await own.start()
        with pytest.raises(MCPError, match="Unknown resource"):
            await own.client.read_resource(f"kernel://{session_id}/{name}")


async def test_a_file_with_a_name_of_two_lines_is_not_kept():
    async with peer() as own:
        report = await own.run("open('a\\nb.csv', 'w').write('1')\nNone")

    assert report["files"] == []
    assert (
        "is not stored: its name is not a valid file name."
        in report["session_info"]["instructions"]
    )


async def test_a_cleared_session_is_gone():
    async with peer() as own:
        session_id = await own.start("open('a.txt', 'w').write('1')")
        answer = await own.call("clear_session", session_id=session_id)
        refusals = [
            await own.refusal("execute_code", code="1", session_id=session_id),
            await own.refusal("list_session_files", session_id=session_id),
            await own.refusal("clear_session", session_id=session_id),
        ]
        with pytest.raises(MCPError, match="SessionExpired"):
            await own.client.read_resource(f"kernel://{session_id}/a.txt")

    assert answer.structured_content == {"session_id": session_id, "cleared": True}
    assert [
        f"SessionExpired: there is no session {session_id!r}." in text for text in refusals
    ] == [True] * 3


@proves("G-44")
async def test_a_session_ends_half_an_hour_after_its_last_call():
    async with peer() as own:
        kept, left = await own.start(), await own.start()
        own.clock.now = 1799.0
        await own.run("1", kept)
        own.clock.now = 1801.0
        await own.run("1", kept)
        refusal = await own.refusal("execute_code", code="1", session_id=left)

    assert "SessionExpired" in refusal
    assert [*own.sessions.open] == [kept]


async def test_the_sweep_leaves_sessions_that_are_used():
    sessions = Sessions(clock := Clock())
    session = sessions.find_or_start("")
    clock.now = 3600.0

    async with session.turn:
        sessions.sweep()
        assert [*sessions.open] == [session.id]
    sessions.sweep()

    assert sessions.open == {}


@proves("G-44")
async def test_code_over_the_limit_is_interrupted_and_leaves_nothing(monkeypatch):
    monkeypatch.setattr("apps.capabilities.interpreter.sandbox.workers.CODE_SECONDS", 1.0)
    async with peer() as own:
        session_id = await own.start("x = 1")
        stopped = await own.run("print('late')\nx = 2\nwhile True: pass", session_id)
        after = await own.run("x", session_id)

    assert (stopped["success"], stopped["output"]) == (False, ["late\n"])
    assert stopped["error"].startswith("TimeoutError: the code was stopped after 1 seconds.")
    assert (after["output"], after["result"]) == ([], "1")


async def test_a_call_that_is_given_up_leaves_nothing_to_the_next():
    sessions = Sessions()
    session = sessions.find_or_start("")
    await sessions.execute(session, "x = 1")
    endless = asyncio.create_task(sessions.execute(session, "x = 2\nwhile True: pass"))
    while not session.turn.locked():
        await asyncio.sleep(0)

    endless.cancel()
    outcome = await sessions.execute(session, "x")

    assert endless.cancelled()
    assert outcome.execution.result == "1"


async def test_a_session_that_is_cleared_while_code_runs_gets_nothing_of_it():
    sessions = Sessions()
    session = sessions.find_or_start("")
    running = asyncio.create_task(sessions.execute(session, "x = 1"))
    while not session.turn.locked():
        await asyncio.sleep(0)

    sessions.clear(session.id)

    with pytest.raises(limits.SessionExpired):
        await running
    assert (sessions.open, session.state) == ({}, None)


async def test_the_longest_unused_session_makes_room(monkeypatch):
    monkeypatch.setattr(limits, "MOST_SESSIONS", 2)
    async with peer() as own:
        ids = []
        for own.clock.now in (1.0, 2.0, 3.0):
            ids.append(await own.start())

    assert [*own.sessions.open] == ids[1:]


async def test_sessions_share_a_limit_of_bytes(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 10_000)
    code = "open('a.txt', 'w').write('x' * 6000)\nNone"
    async with peer() as own:
        first = await own.start(code)
        own.clock.now = 1.0
        second = await own.start(code)

    assert [*own.sessions.open] == [second]
    assert first != second


async def test_what_is_too_large_for_a_session_is_told(monkeypatch):
    monkeypatch.setattr(limits, "MOST_SESSION_BYTES", 5000)
    async with peer() as own:
        files = await own.run("open('a.txt', 'w').write('x' * 6000)\nNone")
        variables = await own.run("x = 'x' * 6000")
        session_id = variables["session_info"]["session_id"]
        after = await own.run("x", session_id)

    assert files["files"] == []
    assert (
        "the files of the session would exceed 5,000 bytes" in files["session_info"]["instructions"]
    )
    assert "too large to be stored" in variables["session_info"]["instructions"]
    assert after["error"].startswith("NameError")


async def test_a_session_has_so_many_files(monkeypatch):
    monkeypatch.setattr(limits, "MOST_SESSION_FILES", 2)
    async with peer() as own:
        report = await own.run("for n in range(3): open(f'{n}.txt', 'w').write('1')")

    assert len(report["files"]) == 2
    assert (
        "the session already has 2 files, which is the limit"
        in report["session_info"]["instructions"]
    )
