"""Configures uvicorn, and stops it gracefully: answers end before their connections are closed."""

import asyncio
import logging
import selectors
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quickapps_site.server.connections import BoundedHttp, BoundedWebSocket

logger = logging.getLogger(__name__)


def announce_nothing() -> None:
    """Do nothing. This is the default of `Shutdown.announce`."""


async def end_nothing(seconds: float) -> None:
    """Do nothing. This is the default of `Shutdown.end`."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The steps of a server's shutdown after SIGTERM.

    The server calls `announce`, and accepts connections for another `drain_seconds`, so that load
    balancers notice. It then closes the listener. Answers have `grace_seconds` to finish. The
    server calls `end` with this time; `end` then ends the remaining answers.
    """

    grace_seconds: float = 30.0
    drain_seconds: float = 0.0
    announce: Callable[[], None] = announce_nothing
    end: Callable[[float], Awaitable[None]] = end_nothing


BACKLOG = 1024
"""The maximum number of connections that are waiting to be accepted."""
KEEP_ALIVE_SECONDS = 75
"""The time in seconds after which the server closes an idle connection. Proxies close it earlier
(nginx after 60 seconds), and so never reuse a connection that the server is closing.
"""
MESSAGE_BYTES = 1024 * 1024
"""The maximum size in bytes of a WebSocket message from a client."""
PING_SECONDS, PONG_SECONDS = 20.0, 30.0
FAREWELL_SECONDS = 1.0
"""The time in seconds that closing connections have to send their last bytes."""
CLEAN_UP_SECONDS = 4
"""The time in seconds that interrupted work has to release its resources."""
POLL_SECONDS = 0.05
CLOSE = (b"connection", b"close")
TICK_SECONDS = 1.0


def make_config(application: Any, *, trusted_proxies: Sequence[str] = ()) -> uvicorn.Config:
    """Return uvicorn's configuration. `trusted_proxies` are the addresses and networks whose
    `X-Forwarded-For` is trusted.
    """
    return uvicorn.Config(
        application,
        http=BoundedHttp,
        ws=BoundedWebSocket,
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PONG_SECONDS,
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        server_header=False,
        workers=1,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=CLEAN_UP_SECONDS,
    )


def url_host(host: str) -> str:
    """Return a host as part of a URL, with brackets around an IPv6 address."""
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket. On `::`, it also accepts IPv4 if the system supports this. Raises
    `OSError`.
    """
    if ":" not in host:
        return socket.create_server((host, port), backlog=BACKLOG)
    dual = socket.has_dualstack_ipv6()
    return socket.create_server(
        (host, port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=dual
    )


class GracefulServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, stopping: Shutdown) -> None:
        super().__init__(config)
        self.stopping = stopping
        self.drain_seconds = 0.0
        self.wake: Callable[[], object] = announce_nothing

    async def main_loop(self) -> None:
        """Wait until the server stops, and update the `Date` header once a second.

        uvicorn's own loop runs ten times a second, and takes most of the CPU time of an idle
        process.
        """
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        self.wake = partial(loop.call_soon_threadsafe, stopped.set)
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await stopped.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the server gracefully, so that its exit status is 0. A second Ctrl-C ends the
        process at once.
        """
        if not self.should_exit and sig == signal.SIGTERM:  # Ctrl-C involves no load balancer.
            self.drain_seconds = self.stopping.drain_seconds
        self.should_exit = True
        self.wake()
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.stopping.announce()
        # Proxies keep connections open, and a request on one that is being closed would fail.
        self.server_state.default_headers = [*self.server_state.default_headers, CLOSE]
        await asyncio.sleep(self.drain_seconds)
        await self.accept_waiting()
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        await asyncio.sleep(POLL_SECONDS)  # The last new connections send their requests.
        for connection in self.http_connections():
            # This closes idle connections. Other connections end with their response.
            connection.shutdown()
        grace = self.stopping.grace_seconds
        waiting = (self.let_finish(grace), self.stopping.end(grace))
        for problem in await asyncio.gather(*waiting, return_exceptions=True):
            if problem is not None:
                logger.error("Failed to end answers gracefully", exc_info=problem)
        await self.let_finish(FAREWELL_SECONDS)
        if self.server_state.tasks:  # Sockets that were just closed finish their handshake.
            await asyncio.wait(self.server_state.tasks, timeout=FAREWELL_SECONDS)
        if rest := self.http_connections():
            logger.info("Closing %d connections: the server is shutting down", len(rest))
        for connection in rest:
            connection.transport.abort()  # Their applications receive a disconnect.
        await super().shutdown(sockets)

    async def accept_waiting(self) -> None:
        """Accept the connections in the listeners' queues, which would be reset when the listeners
        close.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + FAREWELL_SECONDS
        with selectors.DefaultSelector() as queues:
            for listening in self.servers:
                for one in listening.sockets:
                    queues.register(one.fileno(), selectors.EVENT_READ)
            while True:
                # If a listener closes while asyncio is setting up a connection, the connection is
                # lost.
                await asyncio.sleep(POLL_SECONDS)
                if not queues.get_map() or not queues.select(0) or loop.time() > end:
                    return

    def http_connections(self) -> list[HttpToolsProtocol]:
        found = self.server_state.connections
        return [one for one in found if isinstance(one, HttpToolsProtocol)]

    async def let_finish(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        # uvicorn has no event for the end of a connection.
        while self.http_connections() and loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
