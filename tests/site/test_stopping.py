"""What becomes of answers when the server is told to stop in the middle of them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.browser.serving import Site, serve_process
from tests.capabilities.mcp.servers import MISBEHAVING
from tests.fork_server import Fork
from tests.load.processes import children, is_running
from tests.peers.upstream import Upstream, serve_upstream
from tests.websocket import PATIENCE, PageSocket, visitor_cookie

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
Application.objects.create(slug=slug, title="Steady", manifest=manifest, is_public=True)
"""
STORED = """
from apps.chat.models import Message
from apps.live.models import Run
answers = Message.objects.filter(role="assistant").count()
result = {"runs": sorted(Run.objects.values_list("status", "holder")), "answers": answers}
"""


@contextmanager
def serving(
    folder: Path, module: str = "quickapps_site.serve"
) -> Iterator[tuple[Site, Fork, Upstream]]:
    with serve_upstream() as upstream, serve_process(folder, module) as (site, process):
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
    # Where there is nothing to wait for, ten minutes of grace are as good as none.
    with serving(tmp_path, "tests.site.patient_site") as (site, process, _):
        cookie = visitor_cookie(site.url, SLUG)
        tab = PageSocket(site.url, SLUG, cookie)
        tab.ask("a word")
        tab.until("run.status", status="done")

        process.send_signal(signal.SIGTERM)
        rest = tab.rest()
        status = process.wait(PATIENCE)
        tab.close()

    assert (status, rest, tab.code) == (0, [], 3012)
