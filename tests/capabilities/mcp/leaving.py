"""A process that starts two programs over stdio, closes one and leaves the other running.

python leaving.py LOOP END

It prints how many tasks and programs of the closed one are left, and then the process group of the
other.
"""

import asyncio
import sys
import warnings

import django
import uvloop

django.setup()

from apps.capabilities.mcp.sessions.connections import SessionConnection  # noqa: E402
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint  # noqa: E402
from apps.capabilities.mcp.sessions.processes import _groups  # noqa: E402
from apps.workspace.egress.request_context import RequestContext  # noqa: E402
from apps.workspace.local.tools.mcp_servers import RegisteredServer  # noqa: E402
from tests.capabilities.mcp.servers import MISBEHAVING  # noqa: E402


async def opened() -> SessionConnection:
    program = RegisteredServer(1, 1, "local", sys.executable, (MISBEHAVING, "hangs"))
    connection = SessionConnection(ServerEndpoint("stdio", program=program), lambda: None)
    await connection.open(RequestContext(), 20)
    return connection


async def main(end: str) -> None:
    await (await opened()).close()
    tasks, closed = len(asyncio.all_tasks()), len(_groups)
    left = await opened()
    (group,) = _groups
    sys.stdout.write(f"{tasks} {closed}\n{group}\n")
    if end == "exit":
        sys.exit(0)
    assert left is not None


if __name__ == "__main__":
    warnings.simplefilter("error")
    loop, end = sys.argv[1:]
    (uvloop if loop == "uvloop" else asyncio).new_event_loop().run_until_complete(main(end))
