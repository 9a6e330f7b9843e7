"""Clients that do not read their answers cost limited memory and time."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.contract import proves
from tests.load.processes import memory
from tests.site.server.raw_server import answer, served
from tests.site.server.torrents import PIECE, serve_torrent
from tests.sites.serving import Site, serve_process

MB = 1024 * 1024
PATIENCE = 120.0
UPGRADE = (
    "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="upstream", display_name="Upstream", base_url=url, model_name="m", api_key="k"
)
Application.objects.create(slug="torrent", title="Torrent", manifest=manifest, is_public=True)
row, result = ApiKey.objects.create_key(name="reader")
"""
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "upstream"}},
    "contexts": [],
    "tool_sets": [],
}


def reader_that_never_reads(port: int, request: bytes) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    connection.connect(("127.0.0.1", port))
    connection.sendall(request)
    return connection


@proves("T-09")
@pytest.mark.parametrize("headers", ["", UPGRADE], ids=["http", "websocket"])
async def test_a_client_that_takes_nothing_holds_its_sender_up_and_is_cut_off(headers: str):
    async with served("--stalled", "0.5") as (process, port):
        await answer(port, "/")  # loads modules that are loaded late
        before = memory("VmHWM", process.pid)
        request = f"GET /flood HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n".encode()
        with reader_that_never_reads(port, request):
            said = int(await answer(port, "/flooded"))
        after = memory("VmHWM", process.pid)

    assert 1 * MB < said < 16 * MB  # what the system itself buffers
    assert after - before < 16 * MB


@pytest.mark.slow("starts a site in a process of its own")
@proves("T-09")
@pytest.mark.full
def test_an_answer_that_nobody_reads_is_given_up_before_it_fills_the_memory(tmp_path: Path):
    with (
        serve_torrent(20) as torrent,
        serve_process(tmp_path, "tests.site.server.hasty_site") as (site, process),
    ):
        key = site.shell(PREPARE, url=torrent.url, manifest=MANIFEST)
        with ask(site, key) as warm_up, warm_up.makefile("rb") as answer:
            while not answer.readline().startswith(b"data: [DONE]"):
                pass
        torrent.pieces, torrent.said = 50 * MB // len(PIECE), 0
        torrent.is_over.clear()

        before = memory("VmHWM", process.pid)
        with ask(site, key):
            assert torrent.is_over.wait(PATIENCE)
        after = memory("VmHWM", process.pid)

    assert torrent.said < torrent.pieces
    assert after - before < 60 * MB


def ask(site: Site, key: str) -> socket.socket:
    parts = urlsplit(site.url)
    asked = {"stream": True, "messages": [{"role": "user", "content": "Go"}]}
    body = json.dumps(asked).encode()
    head = (
        f"POST /openai/deployments/torrent/chat/completions HTTP/1.1\r\nhost: {parts.netloc}\r\n"
        f"api-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    assert parts.port is not None
    return reader_that_never_reads(parts.port, head.encode() + body)
