"""Servers for tests, and a check that nothing of them is left over."""

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from channels.db import database_sync_to_async

from apps.capabilities.mcp.sessions import processes
from apps.capabilities.mcp.sessions.pool import SessionPool, current_pool
from apps.process_state import forget_object
from apps.workspace.local.models import McpServer
from apps.workspace.local.tools import mcp_servers
from tests.sites.fork_server import fork_server

HERE = Path(__file__).parent
WELL_BEHAVED = str(HERE / "well_behaved.py")
ECHOING = str(HERE / "echoing.py")
MISBEHAVING = str(HERE / "misbehaving.py")


class Apart:
    """A server in a separate process, which can be killed and restarted at its address."""

    def __init__(self, protocol: str, script: str = WELL_BEHAVED) -> None:
        self.script = script
        self.protocol = protocol
        self.path = "sse" if protocol == "sse" else "mcp"
        self.port = "0"
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.path}"

    def start(self) -> None:
        ours, theirs = os.pipe()
        arguments = (self.protocol, self.port)
        with os.fdopen(ours) as said, os.fdopen(theirs, "wb") as output:
            files = (output.fileno(), output.fileno(), 2)  # it reads nothing
            self.process = fork_server().start(self.script, arguments, os.environ, files)
            output.close()
            self.port = said.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)


@contextmanager
def running_apart(protocol: str, script: str = WELL_BEHAVED) -> Iterator[Apart]:
    server = Apart(protocol, script)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def serving_apart(protocol: str, script: str = WELL_BEHAVED) -> Iterator[str]:
    with running_apart(protocol, script) as server:
        yield server.url


def over_http(url: str, protocol: str = "streamable_http", **rest: Any) -> dict[str, Any]:
    info = {"url": url, "protocol": protocol}
    if "authorization" in rest:
        info["authorization"] = rest.pop("authorization")
    return {"type": "mcp", "name": "desk", "mcp_server_info": info, **rest}


def over_stdio(server: str = "local", **rest: Any) -> dict[str, Any]:
    info = {"protocol": "stdio", "server": server}
    return {"type": "mcp", "name": "desk", "mcp_server_info": info, **rest}


async def register(*arguments: str, name: str = "local", **fields: Any) -> None:
    """Register a script of this folder, or another program, as a server."""

    def save() -> None:
        program = {"command": sys.executable, "arguments": list(arguments)}
        row = McpServer(name=name, **{**program, **fields})
        row.full_clean()
        row.save()

    mcp_servers._cache.clear()
    await database_sync_to_async(save)()


def open_files() -> list[str]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith(("socket:", "pipe:")):
            found.append(target)
    return sorted(found)


def described(files: set[str]) -> list[str]:
    """Return sockets with their addresses and states, as the kernel lists them."""
    inodes = {name[8:-1] for name in files if name.startswith("socket:")}
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    return [*files, *(line for line in lines if line.split()[9] in inodes)]


@asynccontextmanager
async def nothing_left_over(before: Mapping[str, Any] | None = None) -> AsyncIterator[SessionPool]:
    """Yield a pool, and check that it leaves no task, connection or process."""
    await database_sync_to_async(int)()  # its thread and its pipe exist from now on
    fork_server()  # and so does its socket
    tasks, files = asyncio.all_tasks(), open_files()
    pool = current_pool()
    try:
        yield pool
    finally:
        await pool.aclose()
        forget_object(SessionPool)
    gc.collect()
    for _ in range(1000):  # other threads and processes close the servers' ends
        if asyncio.all_tasks() <= tasks and set(open_files()) <= set(files):
            break
        await asyncio.sleep(0.02)
    assert asyncio.all_tasks() - tasks == set()
    left = set(open_files()) - set(files)
    assert left == set(), described(left)
    assert processes._groups == set()
