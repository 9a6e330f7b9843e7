"""Programs and the life of the process that started them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.capabilities.mcp.servers import MISBEHAVING
from tests.capabilities.mcp.test_misbehaviour import is_running

LEAVING = """
import asyncio, os, sys
import django
django.setup()
{policy}
from apps.capabilities.mcp.connections import Connection
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.processes import _groups
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.local.mcp_servers import RegisteredServer

async def main():
    program = RegisteredServer(1, 1, "local", sys.executable, ({script!r}, "hangs"))
    connection = Connection(Endpoint("stdio", program=program), lambda: None)
    await connection.open(RequestContext(), 20)
    print(*_groups, flush=True)
    {leave}

asyncio.new_event_loop().run_until_complete(main())
"""
UVLOOP = "import uvloop; asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())"


@pytest.mark.parametrize(
    ("policy", "leave"), [("", "sys.exit(0)"), (UVLOOP, "sys.exit(0)"), (UVLOOP, "pass")]
)
def test_programs_end_with_the_server(policy: str, leave: str):
    script = LEAVING.format(policy=policy, script=MISBEHAVING, leave=leave)

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"DJANGO_SETTINGS_MODULE": "quickapps_site.settings", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    started = done.stdout.split()
    assert len(started) == 1, done.stderr
    assert not is_running(int(started[0]))


@pytest.mark.parametrize("policy", ["", UVLOOP])
def test_closing_leaves_nothing_on_every_event_loop(policy: str):
    leave = "await connection.close(); print(len(asyncio.all_tasks()), len(_groups))"
    script = LEAVING.format(policy=policy, script=MISBEHAVING, leave=leave)

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={"DJANGO_SETTINGS_MODULE": "quickapps_site.settings", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.splitlines()[1:] == ["1 0"], done.stderr
