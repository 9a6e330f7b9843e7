"""If a client disconnects during a tool call of any kind, the server cancels the call at once.

The tests call the real site over HTTP. Whatever is called at the end of the chain holds a
connection of the test and detects that it is closed.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.capabilities.mcp.servers import serving_apart
from tests.load.applications import (
    INNER,
    MCP_SERVER,
    MODEL,
    OUTER,
    PYTHON,
    deployments,
    document,
    guarded_tools,
    interpreter_tools,
    mcp_tools,
    program,
    rest_tools,
)
from tests.load.processes import children, cpu_seconds, is_running, until
from tests.load.world import World, serve_world
from tests.sites.serving import Site, serve_process

pytestmark = pytest.mark.timeout(180)

PATIENCE = 45.0
"""Long enough for steps that take a second on an idle machine. A server that does not notice a
disconnect would continue for a minute, until the tool's timeout."""
DISCOVERY = "discovering"
BUSY_SECONDS = 1.5
ENDLESS = "n = 0\nwhile True:\n    n += 1"
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment, McpServer
for name in ("scripted", "router"):
    Deployment.objects.create(
        deployment_id=name, display_name=name, base_url=url, model_name=name, api_key="k"
    )
McpServer.objects.create(name="load", command=command, arguments=arguments)
for slug, manifest in manifests.items():
    Application.objects.create(slug=slug, title=slug, manifest=manifest, is_public=True)
row, result = ApiKey.objects.create_key(name="client")
"""


@dataclass(frozen=True)
class Served:
    site: Site
    pid: int
    key: str
    world: World

    def ask(self, text: str, slug: str = OUTER) -> socket.socket:
        """Send a request for a streamed answer. Closing the socket is the disconnect."""
        parts = urlsplit(self.site.url)
        body = json.dumps({"stream": True, "messages": [{"role": "user", "content": text}]})
        connection = socket.create_connection((str(parts.hostname), parts.port or 0))
        connection.settimeout(PATIENCE)
        head = (
            f"POST /openai/deployments/{slug}/chat/completions HTTP/1.1\r\nhost: {parts.netloc}\r\n"
            f"api-key: {self.key}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body.encode())
        return connection

    def whole(self, text: str, slug: str = OUTER) -> str:
        with self.ask(text, slug) as connection, connection.makefile("rb") as answer:
            lines = iter(answer.readline, b"data: [DONE]\n")
            return b"".join(lines).decode()

    def arrived(self, name: str) -> None:
        assert self.world.arrived[name].wait(PATIENCE), self.site.log.read_text()

    def left(self, name: str) -> bool:
        return self.world.left[name].wait(PATIENCE)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with (
        serve_world() as world,
        serving_apart("http", MCP_SERVER) as web,
        serving_apart("sse", MCP_SERVER) as feed,
    ):
        outer = document(
            rest_tools(world.url),
            guarded_tools(world.url),
            mcp_tools("web", protocol="streamable_http", url=web),
            mcp_tools("feed", protocol="sse", url=feed),
            mcp_tools("program", protocol="stdio", server="load"),
            deployments(),
            interpreter_tools(),
        )
        discovering = document(
            rest_tools(world.url),
            tool_discovery={
                "enabled": True,
                "min_tools_for_deferral": 2,
                "service_model": "router",
            },
        )
        manifests = {
            OUTER: outer,
            INNER: document(rest_tools(world.url)),
            DISCOVERY: discovering,
        }
        folder = tmp_path_factory.mktemp("site")
        with serve_process(folder, "tests.load.slow_code_site", ENABLE_PREVIEW_FEATURES="true") as (
            site,
            process,
        ):
            key = site.shell(
                PREPARE,
                url=f"{world.url}/v1",
                manifests=manifests,
                command=sys.executable,
                arguments=[MCP_SERVER, "stdio"],
            )
            yield Served(site, process.pid, key, world)


def holding(world: World, name: str) -> dict[str, Any]:
    return {"url": f"{world.url}/hold?name={name}"}


KINDS: dict[str, Callable[[World, str], str]] = {
    "the model": lambda world, name: program("m", hold=name),
    "rest": lambda world, name: program("m", ("shop_stall", {"name": name})),
    "oauth token": lambda world, name: program("m", ("guarded_secret", {})),
    "mcp http": lambda world, name: program("m", ("web_hold", holding(world, name))),
    "mcp sse": lambda world, name: program("m", ("feed_hold", holding(world, name))),
    "mcp stdio": lambda world, name: program("m", ("program_hold", holding(world, name))),
    "deployment": lambda world, name: program("m", (MODEL, {"query": program("n", hold=name)})),
    "application": lambda world, name: program(
        "m", (INNER, {"query": program("n", ("shop_stall", {"name": name}))})
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_is_left_when_the_client_leaves(kind: str, served: Served):
    name = "token" if kind == "oauth token" else kind.replace(" ", "-")
    with served.ask(KINDS[kind](served.world, name)):
        served.arrived(name)
        assert not served.world.left[name].is_set()

    assert served.left(name), served.site.log.read_text()[-3000:]


def test_a_program_that_was_left_in_one_call_serves_the_next(served: Served):
    with served.ask(program("m", ("program_hold", holding(served.world, "first")))):
        served.arrived("first")
        programs = children(served.pid)
    assert served.left("first")

    answer = served.whole(program("m", ("program_echo", {"mark": "still here"})))

    assert "echo still here" in answer
    assert set(programs) <= set(children(served.pid))


def test_the_model_that_chooses_tools_is_left_too(served: Served):
    query = program("n", hold="router")
    asked = program("m", ("internal_tool_search", {"query": query}))
    with served.ask(asked, DISCOVERY):
        served.arrived("router")

    assert served.left("router")


def test_code_that_runs_without_end_is_stopped(served: Served):
    served.whole(program("m"))  # the toolset's program has started by now
    others = {child: cpu_seconds(child) for child in children(served.pid)}

    def busy() -> list[int]:
        """Return the processes that have since used more CPU time than a start takes."""
        return [
            child
            for child in children(served.pid)
            if cpu_seconds(child) - others.get(child, 0.0) > BUSY_SECONDS
        ]

    with served.ask(program("m", (PYTHON, {"title": "Count", "code": ENDLESS}))):
        (worker,) = until(PATIENCE, busy)

    assert until(PATIENCE, lambda: not is_running(worker))
