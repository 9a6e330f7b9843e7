"""The conformance suite of MCP judges our client, in both revisions."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.judges.mcp_client.driver import play_next

HERE = Path(__file__).parent
COMMANDS = HERE.parent / "mcp_conformance" / "node_modules" / ".bin"
SECONDS = 300
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not (COMMANDS / "conformance").exists(),
        reason="MCP conformance skipped: make tests/judges/mcp_conformance/node_modules/stamp",
    ),
]


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_the_client_conforms_to(revision: str, settings: Settings, tmp_path: Path):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["localhost", "127.0.0.1"]
    settings.PUBLIC_URL = "https://conformance-test.local"  # its document is the expected one
    settings.HTTPS = True
    play = partial(play_next, redirect_url=f"{settings.PUBLIC_URL}/connect/callback/")
    async with await asyncio.start_server(play, "127.0.0.1", 0) as driver:
        port = driver.sockets[0].getsockname()[1]
        judge = await asyncio.create_subprocess_exec(
            COMMANDS / "node",
            COMMANDS / "conformance",
            "client",
            *("--requirements", revision),
            *("--command", f"{sys.executable} -IS {HERE / 'relay.py'} {port}"),
            *("--timeout", str(SECONDS * 1000)),
            *("--expected-failures", HERE / "expected_failures.yml"),
            *("-o", tmp_path),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(SECONDS):
                told = (await judge.communicate())[0].decode()
        finally:
            if judge.returncode is None:
                judge.kill()

    assert judge.returncode == 0, told
