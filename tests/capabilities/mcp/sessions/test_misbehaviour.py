"""Misbehaving servers: each ends in a clear error or issue, before a timeout."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from apps.capabilities.mcp.administration import sessions
from apps.capabilities.mcp.sessions import processes, slots
from tests.capabilities.manifests import OTHERWISE, use
from tests.capabilities.mcp.desk import answering, desk_before, messages, opened_desk
from tests.capabilities.mcp.servers import (
    MISBEHAVING,
    nothing_left_over,
    over_http,
    over_stdio,
    register,
)
from tests.capabilities.service import Answer, Reply, Seen, json_reply, serving
from tests.contract import proves
from tests.servers.closing import close_server
from tests.tables import each_row


@proves("9.2")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("way", "text"),
    [
        ("dies", "desk_act: the server ended the connection."),
        ("floods", "desk_act: the server sent too many messages."),
        ("huge result", "desk_act: the server ended the connection."),
        ("refuses", "desk_act: refused"),
        (
            "hangs",
            "The tool call `desk_act` timed out after 0.2 seconds. "
            "Consider retrying with a smaller input or a simpler request.",
        ),
    ],
)
async def test_a_call_that_goes_wrong_is_told_to_the_model(way, text):
    await register(MISBEHAVING, way)

    limit = 0.2 if way == "hangs" else 25.0  # a flood takes a busy machine seconds
    async with (
        nothing_left_over(),
        opened_desk(over_stdio()),  # the program takes time to start
        opened_desk(over_stdio(), seconds=limit) as contribution,
    ):
        started = time.monotonic()
        result = await use(contribution.tools[0])
        seconds = time.monotonic() - started

    assert result.content == (text if "timed out" in text else f"{text}{OTHERWISE}")
    assert seconds < 30


@proves("9.1", "G-40")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("silent", ["Toolset desk: the server timed out."]),
        ("no tools", []),
        (
            "old version",
            ["Toolset desk: the server uses an unsupported version of MCP: 1999-01-01"],
        ),
    ],
)
async def test_a_server_that_cannot_be_used_is_an_issue(way, told):
    await register(MISBEHAVING, way)
    seconds = 0.2 if way == "silent" else 25.0

    async with nothing_left_over(), opened_desk(over_stdio(), seconds=seconds) as contribution:
        assert contribution.tools == ()
        assert messages(contribution) == told


def silent_after_initialize(way: str) -> Answer:
    """Serve sessions, and never answer any request in them."""
    inner = answering(Reply(200))

    async def answer(seen: Seen) -> Reply:
        reply = await inner(seen)
        if b'"tools/list"' not in seen.body:
            return reply
        listed = json.loads(reply.body)
        match way:
            case "silent":
                await asyncio.Event().wait()
            case "another id":
                listed["id"] = 99_999
            case _:  # endless pages
                asked = json.loads(seen.body).get("params", {}).get("cursor") or "0"
                listed["result"] |= {"tools": [], "nextCursor": str(int(asked) + 1)}
                await asyncio.sleep(0.05)
        return json_reply(json.dumps(listed))

    return answer


@proves("9.1")
@pytest.mark.parametrize("way", ["silent", "another id", "endless pages"])
async def test_a_server_that_is_silent_after_initialize_is_given_up_in_time(way, monkeypatch):
    monkeypatch.setattr(slots, "LIST_SECONDS", 0.5)
    answer = silent_after_initialize(way)

    async with asyncio.timeout(60), desk_before(answer=answer) as contribution:
        assert contribution.tools == ()
        assert messages(contribution) == ["Toolset desk: the server timed out."]


async def test_runs_that_wait_for_the_same_list_wait_at_the_same_time(monkeypatch):
    monkeypatch.setattr(slots, "LIST_SECONDS", 1.0)
    told: list[str] = []

    async def run(url: str) -> None:
        async with opened_desk(over_http(url)) as contribution:
            told.extend(messages(contribution))

    async with nothing_left_over(), serving(answer=silent_after_initialize("silent")) as service:
        started = time.monotonic()
        await asyncio.gather(*(run(service.url) for _ in range(30)))
        seconds = time.monotonic() - started

    assert told == ["Toolset desk: the server timed out."] * 30
    assert seconds < 30  # one after the other, they would wait for 30 seconds


@proves("9.1", "G-40")
@pytest.mark.django_db
async def test_of_too_many_tools_those_that_fit_are_offered_and_hidden_ones_first(caplog):
    await register(MISBEHAVING, "many tools")
    toolset = over_stdio(hidden_from_model=["act2999"])

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        names = [tool.spec.name for tool in contribution.tools]
        hidden = [tool.spec.name for tool in contribution.hidden]

    told = (
        "Toolset desk: its server has 3,000 tools; the limit is 500. Tools from 'act499' on "
        "are left out. List the required tools in allowed_tools."
    )
    assert names == [f"desk_act{number}" for number in range(499)]
    assert hidden == ["desk_act2999"]
    assert [(issue.message, issue.is_hard) for issue in contribution.issues] == [(told, False)]
    assert any(message.endswith(f": {told}") for message in caplog.messages)


@proves("9.1")
@pytest.mark.django_db
async def test_a_thousand_tools_are_no_harm_when_some_are_named():
    await register(MISBEHAVING, "many tools")
    toolset = over_stdio(allowed_tools=["act7", "act2999"])

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        assert [tool.spec.name for tool in contribution.tools] == ["desk_act7", "desk_act2999"]


@proves("9.1")
@pytest.mark.django_db
async def test_a_tool_without_a_usable_schema_is_left_out_alone():
    await register(MISBEHAVING, "bad schema")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        names = [tool.spec.name for tool in contribution.tools]

    assert names == ["desk_nested", "desk_act"]
    assert messages(contribution) == [
        "Toolset desk: the tool 'bad' is left out because of its input schema: properties.a.type "
        "is “banana”; use one of array, boolean, integer, null, number, object, string, or a "
        "list of them.",
        "Toolset desk: the tool 'huge' is left out because of its input schema: it is too large "
        "or too deeply nested.",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "arguments", "details"),
    [
        ("/nowhere/at/all", [], "No such file or directory"),
        ("/bin/sh", ["-c", "echo it is broken >&2; exit 3"], "it is broken"),
        ("/usr/bin/yes", [], "It wrote many lines that are no messages."),
    ],
)
async def test_the_last_words_of_a_program_that_is_no_server_are_for_administrators(
    command, arguments, details
):
    await register(command=command, arguments=arguments)

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        (issue,) = contribution.issues
        (session,) = await sessions()

    assert issue.is_hard
    assert issue.message.startswith("Toolset desk: ")
    assert details in session.details
    assert details not in f"{issue.message} {issue.details}"


@pytest.mark.django_db
async def test_a_program_sees_little_of_our_environment(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    await register(MISBEHAVING, "environment", environment='{"TOKEN": "x"}', working_directory="/")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        names, folder = json.loads((await use(contribution.tools[0])).content)

    usual = {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
    assert set(names) - usual == {"TOKEN"}
    assert folder == "/"


@pytest.mark.django_db
async def test_what_a_program_started_ends_with_it(monkeypatch):
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
    await register(MISBEHAVING, "children")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        child = int((await use(contribution.tools[0])).content)
        os.kill(child, 0)

    assert not is_running(child)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in {"Z", "X"}


@proves("9.1")
@pytest.mark.parametrize("protocol", ["streamable_http", "sse"])
@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(401), "Authentication required for toolset 'desk'"),
        (Reply(503), "HTTP error for desk: 503 Service Unavailable"),
        (Reply(404), "HTTP error for desk: 404 Not Found"),
    ],
)
async def test_a_refusal_over_http_is_told_by_its_status(protocol, reply, told):
    async with desk_before(reply, protocol=protocol) as contribution:
        assert messages(contribution) == [told]


@proves("9.1")
@pytest.mark.parametrize("protocol", ["streamable_http", "sse"])
async def test_a_report_never_repeats_the_address(protocol):
    async with nothing_left_over(), serving(Reply(503)) as service:
        toolset = over_http(f"{service.url}/mcp?key=s3cret", protocol)
        async with opened_desk(toolset) as contribution:
            (issue,) = contribution.issues

    assert "s3cret" not in f"{issue.message} {issue.details}"


@proves("9.1")
async def test_the_rest_of_the_application_goes_on(http_url):
    async with (
        nothing_left_over(),
        serving(Reply(500)) as service,
        opened_desk(
            over_http(service.url, name="bad"), over_http(http_url, allowed_tools=["add"])
        ) as contribution,
    ):
        assert messages(contribution) == ["HTTP error for bad: 500 Internal Server Error"]
        assert [tool.spec.name for tool in contribution.tools] == ["desk_add"]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:9", "Toolset desk: the server cannot be reached."),
        (
            "http://10.1.2.3/mcp",
            "Toolset desk: The host '10.1.2.3' is on a private network. If the server may contact "
            "it, add 10.1.2.3 to the setting PRIVATE_NETWORK_ALLOWLIST.",
        ),
        (
            "ftp://example.org",
            (
                "tool_sets[0].mcp_server_info.url: use a URL that begins with http://, "
                "https:// or /."
            ),
        ),
    ],
)
async def test_an_address_that_cannot_be_contacted_is_an_issue(url, told):
    async with nothing_left_over(), opened_desk(over_http(url)) as contribution:
        assert messages(contribution) == [told]


@proves("9.2")
async def test_a_server_that_never_answers_is_an_issue_in_time():
    async def never(seen: Seen) -> Reply:
        await asyncio.Event().wait()
        return Reply()

    async with nothing_left_over(), serving(answer=never) as service:
        started = time.monotonic()
        async with opened_desk(over_http(service.url), seconds=0.2) as contribution:
            assert messages(contribution) == ["Toolset desk: the server timed out."]
            assert time.monotonic() - started < 20


HUGE = json_reply(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"x": "y" * 20_000_000}}))
PACKED = Reply(200, b"\x1f\x8b", {"Content-Type": "application/json", "Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            HUGE,
            (
                "desk_act: the server's response is too large; the limit is 16,777,216 bytes. "
                "Request less data at once."
            ),
        ),
        (PACKED, "desk_act: the server sent a compressed response that was not requested."),
        (Reply(503), "desk_act: 503 Service Unavailable"),
        (Reply(401), "Authentication required for toolset 'desk'"),
        (Reply(200, b"<html>"), "desk_act: Unexpected content type:"),
        (json_reply("{"), "desk_act: the server's response does not follow the protocol."),
    ],
)
async def test_one_failed_call_leaves_the_session_as_it_is(reply, told):
    async with (
        nothing_left_over() as pool,
        serving(answer=answering(reply)) as service,
        opened_desk(over_http(service.url)) as contribution,
    ):
        results = [await use(contribution.tools[0]) for _ in range(2)]
        (slot,) = pool.slots.values()

    assert [result.content.startswith(told) for result in results] == [True, True]
    assert slot.opened == 1


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (Reply(503), 2),
        (Reply(429, b"", {"Retry-After": "0"}), 2),
        (Reply(503, b"", {"Retry-After": "3600"}), 1),
        (Reply(403), 1),
        # it may have lost the session, so a new one is tried, whatever the settings
        (Reply(404), 2),
    ],
)
async def test_a_call_is_repeated_when_the_refusal_may_pass_in_time(reply, calls):
    strategies = [
        {"type": "continue", "retry": {"attempts": 2, "initial_delay": 0.01, "any_method": True}}
    ]
    fallback = {"strategies": strategies}
    async with (
        nothing_left_over(),
        serving(answer=answering(reply)) as service,
        opened_desk(over_http(service.url, fallback_configuration=fallback)) as contribution,
    ):
        await use(contribution.tools[0])
        called = [seen for seen in service.seen if b"tools/call" in seen.body]

    assert len(called) == calls


@asynccontextmanager
async def half_of_sse(status: str) -> AsyncIterator[str]:
    """Serve the address for messages, and accept none of them."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readuntil(b"\r\n\r\n")
        if first.startswith(b"GET"):
            writer.write(head + b"event: endpoint\ndata: /messages\n\n")
            await reader.read()
        else:
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sse"
    finally:
        await close_server(server)
        await server.wait_closed()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("401 No", "Authentication required for toolset 'desk'"),
        ("500 No", "HTTP error for desk: 500 Internal Server Error"),
    ],
)
async def test_a_message_that_is_not_taken_ends_the_wait_for_its_answer(status, told):
    async with nothing_left_over(), half_of_sse(status) as url:
        started = time.monotonic()
        async with opened_desk(over_http(url, "sse")) as contribution:
            assert messages(contribution) == [told]
        assert time.monotonic() - started < 20


async def test_listening_in_vain_is_no_failure_of_a_call():
    broken = {"jsonrpc": "2.0", "id": 4, "result": {"content": 7}}
    plain = answering(json_reply(json.dumps(broken)))

    async def answer(seen: Seen) -> Reply:
        reply = await plain(seen)
        if b'"initialize"' in seen.body:  # with a session, the client also listens
            return Reply(200, reply.body, {**reply.headers, "Mcp-Session-Id": "a"})
        if b"tools/call" in seen.body:
            broken["id"] = json.loads(seen.body)["id"]
            return json_reply(json.dumps(broken))
        return reply

    async with desk_before(answer=answer) as contribution:
        result = await use(contribution.tools[0])

    assert result.content == "7"


def of_the_newest_protocol(tool: dict[str, Any], result: dict[str, Any] | None = None) -> Answer:
    """Serve only the newest protocol version. By default, calls return it."""
    version = "2026-07-28"
    plain = answering(json_reply(""))

    async def answer(seen: Seen) -> Reply:
        message = json.loads(seen.body) if seen.body else {}
        written: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
        text = [{"type": "text", "text": seen.headers.get("mcp-protocol-version", "")}]
        lists = {"ttlMs": 0, "cacheScope": "private"}
        match message.get("method"):
            case "initialize":
                data = {"supported": [version], "requested": "2025-11-25"}
                written["error"] = {"code": -32022, "message": "unsupported", "data": data}
            case "server/discover":
                found = {"supportedVersions": [version], "capabilities": {"tools": {}}}
                written["result"] = {**found, **lists, "resultType": "complete"}
            case "tools/list":
                written["result"] = {"tools": [tool], **lists, "resultType": "complete"}
            case "tools/call":
                written["result"] = {**(result or {"content": text}), "resultType": "complete"}
            case _:
                return await plain(seen)
        return json_reply(json.dumps(written))

    return answer


ACT = {"name": "act", "inputSchema": {"type": "object"}}


async def test_a_server_of_the_newest_protocol_is_used_as_well():
    async with desk_before(answer=of_the_newest_protocol(ACT)) as contribution:
        assert messages(contribution) == []
        assert (await use(contribution.tools[0])).content == "2026-07-28"


NEVER_ENDS = {
    "$ref": "#/$defs/d0",
    "$defs": {
        **{f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)},
        "d40": {"type": "object"},
    },
}

LONGER = "are not checked by its outputSchema: the check takes longer than 0.2 seconds"


@each_row(
    ("schema", "problem"),
    [
        (NEVER_ENDS, LONGER),
        (
            {"properties": {"n": {"pattern": "(?:(?:(?:a{1000}){1000}){1000})"}}},
            "are not checked by its outputSchema: properties.n.pattern: the pattern has too many repetitions",
        ),
        (
            {"properties": {"n": {"$ref": "http://169.254.169.254/latest"}}},
            "are not checked by its outputSchema: properties.n.$ref is “http://169.254",
        ),
        ({"required": ["m"]}, "do not match its outputSchema: $: 'm' is a required property"),
        ({"properties": {"n": {"type": "string"}}}, ""),
        ({"properties": {"n": {"pattern": "^(a|aa)+$"}}}, LONGER),
    ],
)
async def test_results_are_checked_in_bounds_and_reach_the_model_anyway(caplog, schema, problem):
    caplog.clear()
    tool = {**ACT, "outputSchema": {"type": "object", **schema}}
    result = {"content": [], "structuredContent": {"n": "a" * 40 + "!"}}

    async with desk_before(answer=of_the_newest_protocol(tool, result)) as contribution:
        started = time.thread_time()
        answer = await use(contribution.tools[0])
        seconds = time.thread_time() - started

    assert answer.content == json.dumps(result["structuredContent"], separators=(",", ":"))
    logged = [one.getMessage() for one in caplog.records if "outputSchema" in one.getMessage()]
    assert [f"Results of act of desk {problem}" in text for text in logged] == [True] * bool(
        problem
    )
    assert seconds < 5


async def test_an_event_that_is_too_large_is_told_and_the_next_call_works(sse_url):
    async with nothing_left_over(), opened_desk(over_http(sse_url, "sse")) as contribution:
        shout = next(tool for tool in contribution.tools if tool.spec.name == "desk_shout")
        results = [await use(shout, length=length) for length in (2_000_000, 3)]

    assert [result.content for result in results] == [
        f"desk_shout: the server sent an event that is too large or cannot be read.{OTHERWISE}",
        "xxx",
    ]


@pytest.mark.django_db
async def test_a_list_that_repeats_itself_ends_with_the_tools_that_came():
    await register(MISBEHAVING, "endless list")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        names = [tool.spec.name for tool in contribution.tools]
        issues = [str(issue) for issue in contribution.issues]

    assert names == ["desk_act"]
    assert issues == [
        "Toolset desk: the server's list repeats itself (nextCursor 'more' is repeated); only "
        "the tools before that are used."
    ]


@pytest.mark.django_db
async def test_a_result_that_is_no_list_is_read_all_the_same():
    await register(MISBEHAVING, "nonsense")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        result = await use(contribution.tools[0])

    assert result.content == "nothing like a list"


async def test_a_large_answer_over_http_is_cut_only_for_the_model(http_url):
    async with nothing_left_over(), opened_desk(over_http(http_url)) as contribution:
        shout = next(tool for tool in contribution.tools if tool.spec.name == "desk_shout")
        large = await use(shout, length=3_000_000)
        huge = await use(shout, length=20_000_000)

    assert large.content.endswith("(cut: 2600000 more characters)")
    assert huge.content.startswith("desk_shout: ")
    assert len(huge.content) < 500
