"""A third-party server in another language, as a program and over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from apps.agent.events import Event, StageOpened
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.registry import Contribution
from tests.capabilities.manifests import Files, manifest, opened, stage_text, use
from tests.capabilities.mcp.servers import nothing_left_over, over_http, over_stdio, register
from tests.contract import proves
from tests.peers.everything import NODE, SCRIPT, install, running_everything

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not NODE, reason="node is not installed"),
]


@dataclass
class Desk:
    contribution: Contribution
    files: Files = field(default_factory=Files)

    def tool(self, name: str) -> Tool:
        (found,) = [tool for tool in self.contribution.tools if tool.spec.name == f"desk_{name}"]
        return found

    async def use(self, name: str, emit=silent, **arguments: object) -> ToolResult:
        return await use(self.tool(name), emit, **arguments)


@pytest.fixture(scope="session")
def everything_url() -> Iterator[str]:
    install()
    with running_everything() as server:
        yield server.url


@pytest.fixture(params=["stdio", "streamable_http"])
def protocol(request: pytest.FixtureRequest, settings) -> str:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    return str(request.param)


@asynccontextmanager
async def desk(protocol: str, url: str) -> AsyncIterator[Desk]:
    if protocol == "stdio":
        await register(command=NODE, arguments=[str(SCRIPT), "stdio"], name="everything")
    resources = {"resources": {"enabled": True}}
    toolset = over_stdio("everything") if protocol == "stdio" else over_http(url)
    files = Files()
    async with nothing_left_over():
        document = manifest({**toolset, **resources}, tool_defaults={"timeout_seconds": 60})
        async with opened(mcp, document, files=files) as contribution:
            yield Desk(contribution, files)


@proves("10.1")
async def test_what_it_has_is_listed_and_its_refusals_are_told(protocol: str, everything_url: str):
    events: list[Event] = []

    async with desk(protocol, everything_url) as server:
        names = {tool.spec.name for tool in server.contribution.tools}
        (cards,) = server.contribution.instructions
        await server.use("echo", events.append, message="hello")
        refused = await server.use("get-resource-reference", resourceType="Text", resourceId=-1)

    # One of its tools can only be called as a task.
    assert [str(issue) for issue in server.contribution.issues] == [
        "Toolset desk: the tool 'simulate-research-query' is left out: it can only be called as a task "
        "(execution.taskSupport is 'required'), which is not supported."
    ]
    assert names >= {"desk_echo", "desk_get-sum", "desk_get-tiny-image", "read_mcp_resource"}
    # Tools that need an interactive client are not offered to one without a user.
    assert not [name for name in names if "sampling" in name or "roots" in name or "elicit" in name]
    assert "URI: demo://resource/static/document/" in cards
    assert [event.title for event in events if isinstance(event, StageOpened)] == ["desk · echo"]
    assert "Invalid resourceId" in refused.content


@proves("G-40")
async def test_texts_numbers_images_and_structures_come_back(protocol: str, everything_url: str):
    async with desk(protocol, everything_url) as server:
        echoed = await server.use("echo", message="hello")
        added = await server.use("get-sum", a=2, b=40)
        image = await server.use("get-tiny-image")
        weather = await server.use("get-structured-content", location="Chicago")

    assert echoed.content == "Echo: hello"
    assert added.content == "The sum of 2 and 40 is 42."
    assert [(one.type, one.title) for one in image.attachments] == [
        ("image/png", "get-tiny-image.png")
    ]
    ((content, kind),) = server.files.kept.values()
    assert (content[:8], kind) == (b"\x89PNG\r\n\x1a\n", "image/png")
    assert json.loads(weather.content)["temperature"] == 36


async def test_resources_are_read_and_linked(protocol: str, everything_url: str):
    async with desk(protocol, everything_url) as server:
        (reading,) = [
            tool for tool in server.contribution.tools if tool.spec.name == "read_mcp_resource"
        ]
        (cards,) = server.contribution.instructions
        uri = cards.partition("URI: ")[2].partition(",")[0]
        read = await use(reading, uri=uri)
        links = await server.use("get-resource-links", count=2)
        embedded = await server.use("get-resource-reference", resourceType="Text", resourceId=1)

    assert read.content.startswith("#")
    assert links.content.count("demo://resource/dynamic/") == 2
    assert [one.type for one in embedded.attachments] == ["text/plain"]


async def test_progress_is_shown_while_it_works(protocol: str, everything_url: str):
    events: list[Event] = []

    async with desk(protocol, everything_url) as server:
        result = await server.use(
            "trigger-long-running-operation", events.append, duration=0.3, steps=3
        )

    assert result.content.startswith("Long running operation completed.")
    assert "1 of 3\n\n2 of 3\n\n3 of 3\n\n" in stage_text(events)


async def test_a_call_that_is_stopped_leaves_the_session_usable(protocol: str, everything_url: str):
    working = asyncio.Event()

    def emit(event: Event) -> None:
        if "1 of 600" in stage_text([event]):
            working.set()

    async with desk(protocol, everything_url) as server:
        long = server.tool("trigger-long-running-operation")
        arguments = {"duration": 60, "steps": 600}
        running = asyncio.ensure_future(long.call(Invocation("call-1", arguments, (), emit)))
        async with asyncio.timeout(60):
            await working.wait()
        running.cancel()
        await asyncio.wait([running], timeout=60)
        after = await server.use("echo", message="still here")

    assert running.cancelled()
    assert after.content == "Echo: still here"


async def test_a_server_that_was_started_anew_is_asked_again(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    install()

    with running_everything() as running:
        document = manifest(over_http(running.url), tool_defaults={"timeout_seconds": 60})
        async with opened(mcp, document) as contribution:
            server = Desk(contribution)
            before = await server.use("echo", message="hello")
            running.kill()
            running.start()
            after = await asyncio.gather(*(server.use("echo", message=word) for word in "abc"))

    assert before.content == "Echo: hello"
    assert [result.content for result in after] == ["Echo: a", "Echo: b", "Echo: c"]
