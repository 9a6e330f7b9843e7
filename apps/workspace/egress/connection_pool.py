"""Opens connections, and keeps idle ones in a pool for each transport."""

import asyncio
import ssl
from collections import deque
from dataclasses import dataclass

import httpx2

from apps.workspace.egress.connection import HttpConnection
from apps.workspace.egress.guard import HostAddress, Trust, find_addresses, tls_context

IDLE_SECONDS = 15.0
"""The idle time in seconds after which the pool closes a connection. It is less than the idle
timeout of common proxies.
"""
UNREACHABLE = "The service cannot be reached."
MOST_IDLE = 256
"""The maximum number of idle connections per origin in the pool. Connections in use are limited
only by the number of runs.
"""


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    host: str
    port: int


class ConnectionPool:
    """Idle connections by origin. The most recently used connection is reused first."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.idle: dict[Origin, deque[tuple[HttpConnection, float]]] = {}
        self.sweeper: asyncio.TimerHandle | None = None

    def take(self, origin: Origin) -> HttpConnection | None:
        idle = self.idle.get(origin)
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        while idle:
            connection, since = idle.pop()
            if since >= oldest and connection.is_reusable() and not connection.is_stale():
                return connection
            connection.close()
        return None

    async def connect(self, origin: Origin, seconds: float) -> HttpConnection:
        """Open a connection to the origin. Raises httpx2's errors if that fails, and
        `EgressRefused` if the host is not allowed.
        """
        try:
            async with asyncio.timeout(seconds):
                addresses = await find_addresses(self.trust, origin.host, origin.port)
                failure = OSError(f"The host {origin.host!r} has no address.")
                for address in addresses:
                    try:
                        return await dial(origin, address)
                    except OSError as error:
                        failure = error
                raise failure
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(f"No connection within {seconds:g} seconds.") from error
        except ssl.SSLError as error:
            raise httpx2.ConnectError("The TLS connection failed.") from error
        except OSError as error:
            raise httpx2.ConnectError(UNREACHABLE) from error

    def release(self, origin: Origin, connection: HttpConnection) -> None:
        idle = self.idle.setdefault(origin, deque())
        if not connection.is_reusable() or len(idle) >= MOST_IDLE:
            connection.close()
            return
        connection.reset()
        loop = asyncio.get_running_loop()
        idle.append((connection, loop.time()))
        if self.sweeper is None:
            self.sweeper = loop.call_later(IDLE_SECONDS, self.sweep)

    def sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest = loop.time() - IDLE_SECONDS
        for origin, idle in list(self.idle.items()):
            while idle and (idle[0][1] < oldest or not idle[0][0].is_reusable()):
                idle.popleft()[0].close()
            if not idle:
                del self.idle[origin]
        self.sweeper = loop.call_later(IDLE_SECONDS, self.sweep) if self.idle else None

    async def aclose(self) -> None:
        if self.sweeper is not None:
            self.sweeper.cancel()
            self.sweeper = None
        for idle in self.idle.values():
            for connection, _ in idle:
                connection.close()
        self.idle.clear()
        await asyncio.sleep(0)  # This lets the aborted transports notify their protocols.


async def dial(origin: Origin, address: HostAddress) -> HttpConnection:
    loop = asyncio.get_running_loop()
    secure = origin.scheme == "https"
    _, connection = await loop.create_connection(
        HttpConnection,
        address.host,
        address.port,
        ssl=tls_context() if secure else None,
        server_hostname=origin.host if secure else None,  # The certificate is for the host name.
    )
    return connection
