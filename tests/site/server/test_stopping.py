"""Answers when the server is stopped in the middle of them."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from quickapps_site.server.graceful_server import GracefulServer, Shutdown, listen, make_config
from tests.capabilities.mcp.servers import MISBEHAVING
from tests.load.processes import children, is_running
from tests.peers.upstream import Upstream, serve_upstream
from tests.sites.fork_server import Fork
from tests.sites.serving import Site, serve_process
from tests.sites.websocket import PATIENCE, PageSocket, visitor_cookie

SLUG = "steady"
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "upstream"}},
    "contexts": [],
    "tool_sets": [
        {
            "type": "mcp",
            "name": "desk",
            "mcp_server_info": {"protocol": "stdio", "server": "hangs"},
        }
    ],
}
PREPARE = """
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment, McpServer
Deployment.objects.create(
    deployment_id="upstream", display_name="Upstream", base_url=url, model_name="m", api_key="k"
)
McpServer.objects.create(name="hangs", command=command, arguments=arguments)
Application.objects.create(
    slug=slug, title="Steady", manifest=manifest, is_public=True, is_shared=True
)
"""
STORED = """
from apps.conversations.models import Message
from apps.live.models import Run
answers = Message.objects.filter(role="assistant").count()
result = {"runs": sorted(Run.objects.values_list("status", "holder")), "answers": answers}
"""


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[tuple[Site, Fork, Upstream]]:
    with serve_upstream() as upstream, serve_process(folder, **settings) as (site, process):
        site.shell(
            PREPARE,
            url=upstream.url,
            slug=SLUG,
            manifest=MANIFEST,
            command=sys.executable,
            arguments=[MISBEHAVING, "hangs"],
        )
        yield site, process, upstream


def wait_for(event: Event) -> None:
    assert event.wait(PATIENCE)


@pytest.mark.slow("starts a site in a process of its own")
def test_answers_that_are_being_given_are_handed_over(tmp_path: Path):
    with serving(tmp_path) as (site, process, upstream):
        cookie = visitor_cookie(site.url, SLUG)
        first = PageSocket(site.url, SLUG, cookie)
        asking = first.ask("hang")
        first.until("message.delta")
        wait_for(upstream.is_asked)
        second = PageSocket(site.url, SLUG, cookie)
        second.ask("call desk_act")
        second.until("stage.opened")
        programs = children(process.pid)
        feed = urlopen(
            Request(
                f"{site.url}/api/notifications?conversation={asking}", headers={"cookie": cookie}
            ),
            timeout=PATIENCE,
        )
        assert feed.readline() == b": open\n"

        process.send_signal(signal.SIGTERM)
        told = [socket.rest() for socket in (first, second)]
        streamed = feed.read().decode()
        status = process.wait(PATIENCE)
        wait_for(upstream.is_left)
        stored: dict[str, Any] = site.shell(STORED)
        codes = first.code, second.code
        for closable in (first, second, feed):
            closable.close()

    assert status == 0, site.log.read_text()
    assert len(programs) == 2  # each run has a session in which it can be asked
    assert not any(map(is_running, programs))
    endings = [(frames[-1]["type"], frames[-1]["status"]) for frames in told]
    assert endings == [("run.status", "queued")] * 2
    assert codes == (3012, 3012)
    assert "event: AITaskStatusChanged" in streamed.rpartition("id: ")[2]
    assert stored == {"runs": [["queued", ""], ["queued", ""]], "answers": 0}


@pytest.mark.slow("starts a site in a process of its own")
@pytest.mark.full
def test_a_server_with_nothing_to_do_stops_at_once_although_it_is_watched(tmp_path: Path):
    # Without anything to wait for, a grace period of ten minutes does not delay the stop.
    with serving(tmp_path, SHUTDOWN_GRACE_SECONDS="600") as (site, process, _):
        cookie = visitor_cookie(site.url, SLUG)
        tab = PageSocket(site.url, SLUG, cookie)
        tab.ask("a word")
        tab.until("run.status", status="done")

        process.send_signal(signal.SIGTERM)
        rest = tab.rest()
        status = process.wait(PATIENCE)
        tab.close()

    assert (status, rest, tab.code) == (0, [], 3012)


def gateway_request(site: Site, question: str) -> Request:
    body = {"stream": True, "messages": [{"role": "user", "content": question}]}
    address = f"{site.url}/openai/deployments/{SLUG}/chat/completions"
    return Request(address, json.dumps(body).encode(), {"content-type": "application/json"})


@pytest.mark.slow("starts a site in a process of its own")
def test_a_stream_of_the_gateway_that_outlives_the_grace_period_ends_with_an_error(tmp_path: Path):
    with serving(tmp_path, SHUTDOWN_GRACE_SECONDS="0.2") as (site, process, _):
        with urlopen(gateway_request(site, "hang"), timeout=PATIENCE) as stream:
            begun = stream.readline()
            process.send_signal(signal.SIGTERM)
            rest = stream.read().decode()
        status = process.wait(PATIENCE)

    events = [line.removeprefix("data: ") for line in rest.splitlines() if line]
    assert (begun[:6], events[-1], status) == (b"data: ", "[DONE]", 0)
    error = json.loads(events[-2])["error"]
    assert (error["code"], error["message"]) == (
        "server_stopping",
        "The server is restarting. Try again in a moment.",
    )


@pytest.mark.slow("starts a site in a process of its own")
def test_a_server_is_not_ready_any_more_while_it_still_accepts_requests(tmp_path: Path):
    with serving(tmp_path, SHUTDOWN_DRAIN_SECONDS="600") as (site, process, _):
        process.send_signal(signal.SIGTERM)
        readiness = ready(site)
        while readiness == READY:
            readiness = ready(site)
        with urlopen(gateway_request(site, "a word"), timeout=PATIENCE) as stream:
            answer = stream.read().decode()
        connection = HTTPConnection(site.url.removeprefix("http://"), timeout=PATIENCE)
        connection.request("GET", "/readyz")
        with connection.getresponse() as response:
            is_kept = response.headers["connection"] != "close"
        connection.close()
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)

    failing = {"process": "The server is stopping."}
    assert readiness == (503, {"status": "unavailable", "failing": failing})
    assert answer.endswith("data: [DONE]\n\n")
    assert not is_kept


async def test_a_connection_that_waits_to_be_accepted_is_answered():
    clients: list[socket.socket] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def connect() -> None:
        clients.append(socket.create_connection(listening.getsockname(), timeout=PATIENCE))
        clients[0].sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")

    config = make_config(application)
    config.lifespan = "off"
    with listen("127.0.0.1", 0) as listening:
        server = GracefulServer(config, Shutdown(announce=connect))
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup([listening])
        await server.shutdown([listening])
    with clients[0] as client:
        answer = client.recv(1000)

    assert answer.startswith(b"HTTP/1.1 204 ")
    assert b"\r\nconnection: close\r\n" in answer


READY = (200, {"status": "ok"})


def ready(site: Site) -> tuple[int, Any]:
    try:
        with urlopen(f"{site.url}/readyz", timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)
