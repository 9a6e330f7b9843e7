"""Core as a server on the loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.dial_core.app import application
from tests.dial_core.core import Core
from tests.suite.launched import LAUNCHED

GRACE_SECONDS = 1
PATIENCE_SECONDS = 60


class Protocol(H11Protocol):
    """Passes its transport to a request, so that a connection can be dropped."""

    def connection_made(self, transport: Any) -> None:
        self.app_state = {**self.app_state, "transport": transport}
        super().connection_made(transport)


class Server(uvicorn.Server):
    """A server that stops at once; uvicorn's own only checks ten times a second."""

    loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stopped = asyncio.Event()

    def stop(self) -> None:
        """Stop the server. Any thread may call this."""
        self.should_exit = True
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.stopped.set)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self.loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self.stopped.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in [*self.server_state.connections]:
            connection.shutdown()
        await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            await server.wait_closed()
        await self.lifespan.shutdown()


@contextmanager
def served(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """Serve an application in a thread within the block. Yields its address. Port 0 means a free
    port."""
    LAUNCHED["servers in a thread"] += 1
    listening = socket.create_server(("127.0.0.1", port))
    server = Server(
        uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.stop()
        thread.join(PATIENCE_SECONDS)
        listening.close()


@contextmanager
def serve_core(document: Mapping[str, Any] | None = None, *, port: int = 0) -> Iterator[Core]:
    """Serve a Core on the loopback within the block. Port 0 means a free port."""
    core = Core(document)
    with served(application(core), port) as core.url:
        yield core
