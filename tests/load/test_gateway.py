"""Many parallel answers of the real site over HTTP, while a third of their tools fail."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.capabilities.mcp.servers import serving_apart
from tests.load.applications import MCP_SERVER, OUTER
from tests.load.processes import children, connections, memory, until
from tests.load.test_cancellation import PREPARE
from tests.load.test_runs import check_results, manifests, question
from tests.load.world import serve_world
from tests.sites.serving import Site, serve_process

ANSWERS = 60
MOST_ROUNDS = 6
PATIENCE = 60.0
"""Every fifteen seconds, pools close connections that were idle for fifteen seconds."""
MCP_SESSIONS = 2
"""Connections of the only caller: to the server that answers and, until it died, to the other one.
"""

pytestmark = pytest.mark.timeout(180)


async def answer(site: Site, key: str, text: str) -> bytes:
    parts = urlsplit(site.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = json.dumps({"stream": True, "messages": [{"role": "user", "content": text}]}).encode()
    head = (
        f"POST /openai/deployments/{OUTER}/chat/completions HTTP/1.0\r\nhost: {parts.netloc}\r\n"
        f"api-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    whole = await reader.read()
    writer.close()
    await writer.wait_closed()
    return whole


def check(number: int, whole: bytes) -> None:
    """Check that it ended, closed its connections, and contains nothing of other answers."""
    lines = [line for line in whole.split(b"\n") if line.startswith(b"data: ")]
    assert lines[-1] == b"data: [DONE]", whole[-2000:]
    chunks: list[dict[str, Any]] = [json.loads(line[6:]) for line in lines[:-1]]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    text = "".join(delta.get("content") or "" for delta in deltas)
    customs = [delta["custom_content"] for delta in deltas if "custom_content" in delta]
    stages = [stage for custom in customs for stage in custom.get("stages", ())]
    opened = {stage["index"] for stage in stages}
    closed = Counter(stage["index"] for stage in stages if stage.get("status"))
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert closed == dict.fromkeys(opened, 1)
    assert len(opened) >= 3
    check_results(number, text)


async def all_at_once(site: Site, key: str, url: str) -> None:
    asking = [answer(site, key, question(number, url)) for number in range(ANSWERS)]
    for number, whole in enumerate(await asyncio.gather(*asking)):
        check(number, whole)


def has_stopped_growing(before: int, grown_to: Sequence[int]) -> bool:
    """Return True if the last burst used no more, or all bursts little more."""
    return grown_to[-1] < before * 1.1 or grown_to[-1] <= min(grown_to[-2:-1], default=0) * 1.005


@pytest.mark.slow("a load of many requests at a time")
async def test_answers_whose_tools_fail_are_whole_and_leave_nothing(tmp_path: Path):
    with (
        serve_world() as world,
        serving_apart("http", MCP_SERVER) as web,
        serving_apart("http", MCP_SERVER) as frail,
        serve_process(tmp_path) as (site, process),
    ):
        written = manifests(world, web, frail)
        key = site.shell(
            PREPARE, url=f"{world.url}/v1", manifests=written, command="true", arguments=[]
        )
        before_all = connections(process.pid)
        await all_at_once(site, key, world.url)
        programs, before = children(process.pid), memory("VmRSS", process.pid)

        # The system gets some resources of a burst back late; leaked ones never.
        grown_to = []
        for _ in range(MOST_ROUNDS):
            await all_at_once(site, key, world.url)
            grown_to.append(memory("VmRSS", process.pid))
            if has_stopped_growing(before, grown_to):
                break
        is_quiet = until(
            PATIENCE,
            lambda: connections(process.pid) <= before_all + len(programs) + MCP_SESSIONS * 2,
        )
        sockets = connections(process.pid)
        held, open_, grown = world.held, world.open, children(process.pid)

    assert is_quiet, (before_all, sockets)
    assert (held, open_) == (0, 0)
    assert len(grown) == len(programs)
    assert has_stopped_growing(before, grown_to), (before, grown_to)
