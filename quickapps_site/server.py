"""uvicorn as this site runs it, and how it stops: answers first, then connections."""

import asyncio
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quickapps_site.connections import BoundedHttp, BoundedWebSocket

logger = logging.getLogger(__name__)

Ending = Callable[[float], Awaitable[None]]

BACKLOG = 1024
"""Connections that may wait to be accepted."""
KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep idle connections (nginx 60): the side that asks should be the one to close."""
MESSAGE_BYTES = 1024 * 1024
"""The largest WebSocket message of a client."""
PING_SECONDS, PONG_SECONDS = 20.0, 30.0
GRACE_SECONDS = 3.0
"""How long answers that are being given may go on after the server was told to stop. Containers
are usually killed after ten seconds, and ending what does not end by itself takes its time too."""
FAREWELL_SECONDS = 0.5
CLEAN_UP_SECONDS = 4
"""For what was cut off to let go."""
POLL_SECONDS = 0.05


def make_config(application: Any, *, trusted_proxies: Sequence[str] = ()) -> uvicorn.Config:
    """`trusted_proxies` are addresses and networks whose `X-Forwarded-For` is believed."""
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


def listen(host: str, port: int) -> socket.socket:
    """Raises `OSError`. `::` takes IPv4 as well where the system can."""
    if ":" not in host:
        return socket.create_server((host, port), backlog=BACKLOG)
    dual = socket.has_dualstack_ipv6()
    return socket.create_server(
        (host, port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=dual
    )


class GracefulServer(uvicorn.Server):
    """`ending` ends what goes on without a connection; it is told for how long that may go on."""

    def __init__(self, config: uvicorn.Config, ending: Ending) -> None:
        super().__init__(config)
        self.ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully with the exit status 0; a further Ctrl-C ends the process at once."""
        self.should_exit = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in self.http_connections():
            connection.shutdown()  # closes those that are idle; the others end with their answer
        waiting = (self.let_finish(GRACE_SECONDS), self.ending(GRACE_SECONDS))
        for problem in await asyncio.gather(*waiting, return_exceptions=True):
            if problem is not None:
                logger.error("Answers could not be ended properly", exc_info=problem)
        if self.server_state.tasks:  # sockets that were told just now say goodbye
            await asyncio.wait(self.server_state.tasks, timeout=FAREWELL_SECONDS)
        if rest := self.http_connections():
            logger.info("%d connections are cut off because the server stops", len(rest))
        for connection in rest:
            connection.transport.abort()  # their applications hear that the client has gone
        await super().shutdown(sockets)

    def http_connections(self) -> list[HttpToolsProtocol]:
        found = self.server_state.connections
        return [one for one in found if isinstance(one, HttpToolsProtocol)]

    async def let_finish(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        # uvicorn tells nobody that a connection has ended.
        while self.http_connections() and loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
