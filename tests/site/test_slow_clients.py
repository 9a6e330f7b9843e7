"""Clients that do not read what they asked for: they cost a bounded amount of memory and time."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.serving import Site, serve_process
from tests.site.test_serve import answer, free_port, until_it_listens
from tests.site.torrents import PIECE, serve_torrent

MB = 1024 * 1024
PATIENCE = 120.0
"""Who reads nothing is cut off after thirty seconds."""
APPLICATION = """
import asyncio, sys
from quickapps_site.serve import serve, use_uvloop

use_uvloop()
from quickapps_site import backpressure
backpressure.STALLED_SECONDS = float(sys.argv[3])

gone = asyncio.Event()
said = 0

async def application(scope, receive, send):
    global said
    await receive()
    is_socket = scope["type"] == "websocket"
    if is_socket:
        await send({"type": "websocket.accept"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/gone":
        await gone.wait()
        body = b"%d" % said
        await send({"type": "http.response.body", "body": body})
        return
    leaving = asyncio.ensure_future(receive())
    while not leaving.done():
        if is_socket:
            await send({"type": "websocket.send", "text": "x" * 65536})
        else:
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        said += 65536
        await asyncio.sleep(0)
    gone.set()

sys.exit(serve(application, "127.0.0.1", int(sys.argv[1]), direct_writes=sys.argv[2] == "direct"))
"""
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


@asynccontextmanager
async def flooding(writes: str, stalled: float) -> AsyncIterator[tuple[int, int]]:
    """A server that never stops talking; its port and its process."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        APPLICATION,
        str(port),
        writes,
        str(stalled),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(60):
            await until_it_listens(process, port)
            yield port, process.pid
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def most_memory(pid: int) -> int:
    """What the process ever had at a time, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) * 1024


def reader_that_never_reads(port: int, request: bytes) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    connection.connect(("127.0.0.1", port))
    connection.sendall(request)
    return connection


@pytest.mark.parametrize("writes", ["direct", "queued"])
@pytest.mark.parametrize("headers", ["", UPGRADE], ids=["http", "websocket"])
async def test_a_client_that_takes_nothing_holds_its_sender_up_and_is_cut_off(
    writes: str, headers: str
):
    async with flooding(writes, 0.5) as (port, pid):
        before = most_memory(pid)
        request = f"GET / HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n".encode()
        with reader_that_never_reads(port, request):
            said = int(await answer(port, "/gone"))
        after = most_memory(pid)

    assert 1 * MB < said < 16 * MB  # the system's own buffers, and one megabyte
    assert after - before < 16 * MB


@pytest.mark.xdist_group("site")
def test_an_answer_that_nobody_reads_is_given_up_before_it_fills_the_memory(tmp_path: Path):
    with serve_torrent(20) as torrent, serve_process(tmp_path) as (site, process):
        key = site.shell(PREPARE, url=torrent.url, manifest=MANIFEST)
        with ask(site, key) as warm_up, warm_up.makefile("rb") as answer:
            while not answer.readline().startswith(b"data: [DONE]"):
                pass
        torrent.pieces, torrent.said = 50 * MB // len(PIECE), 0
        torrent.is_over.clear()

        before = most_memory(process.pid)
        with ask(site, key):
            assert torrent.is_over.wait(PATIENCE)
        after = most_memory(process.pid)

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
