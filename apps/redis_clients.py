"""Creates clients for each kind of Redis that `REDIS_URL` can specify.

A single server and a Sentinel master use the same client class. A cluster uses another class with
the same commands. In a cluster, all keys of a command or script must be in the same hash slot. The
part of a key in braces determines its slot.
"""

from __future__ import annotations

import asyncio
import logging
import random
from functools import lru_cache
from typing import Any, cast

import redis
from django.conf import settings
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode as BlockingClusterNode
from redis.credentials import CredentialProvider
from redis.exceptions import RedisClusterException, RedisError
from redis.retry import Retry as BlockingRetry
from redis.sentinel import Sentinel as BlockingSentinel

from apps import environment_variables, redis_address
from apps.process_state import on_reset
from apps.redis_address import RedisAddress, RedisKind, WrongAddress

logger = logging.getLogger(__name__)

FAILURES = (RedisError, RedisClusterException, OSError)
"""The errors that a command raises while Redis is unavailable."""
ANSWER_SECONDS = 1.0
"""The timeout in seconds for a connection attempt and for each response."""
MOST_CONNECTIONS = 20
WAIT_SECONDS = 5.0
"""The timeout in seconds for getting a free connection. Each command uses one for about a
millisecond.
"""
CHECK_SECONDS = 15.0
"""The interval in seconds between pings on listening connections. Pings detect broken connections.
"""


BROKEN = (redis.ConnectionError,)
"""The errors after which a command is retried once, over a new connection. A failover causes them,
because it closes open connections.
"""


class CurrentCredentials(CredentialProvider):
    """The credentials in `REDIS_URL`. If a file contains the URL, each new connection reads the
    file again.
    """

    def __init__(self, address: RedisAddress) -> None:
        self.address = address

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        try:
            self.address = redis_address.parse(environment_variables.current_setting("REDIS_URL"))
        except WrongAddress as error:
            logger.warning("REDIS_URL_FILE %s Still using the previous password.", error)
        address = self.address
        return (address.username, address.password) if address.username else (address.password,)

    async def get_credentials_async(self) -> tuple[str] | tuple[str, str]:
        return self.get_credentials()


class AddressConnection(Connection):
    """A Pub/Sub connection to the server, the current Sentinel master, or any node of the cluster.
    All nodes have the same channels.
    """

    def __init__(self, *, service: RedisAddress, **options: Any) -> None:
        super().__init__(**options)
        self.service = service

    async def _connect(self) -> None:
        nodes = await find_nodes(self.service)
        while True:
            self.host, self.port = nodes.pop()
            try:
                await super()._connect()  # type: ignore[no-untyped-call]
                return
            except (OSError, TimeoutError):
                if not nodes:
                    raise


class TlsAddressConnection(AddressConnection, SSLConnection): ...


async def find_nodes(address: RedisAddress) -> list[tuple[str, int]]:
    """Return the hosts and ports that accept connections, in random order. Raises
    `redis.ConnectionError` if no Sentinel reports a master.
    """
    if address.kind is not RedisKind.SENTINEL:
        return random.sample(address.nodes, len(address.nodes))
    options = {**sentinel_options(address), "retry": Retry(NoBackoff(), 0)}
    sentinels = Sentinel(address.nodes, sentinel_kwargs=options)  # type: ignore[no-untyped-call]
    async with sentinels as sentinel:
        host, port = await sentinel.discover_master(address.master)
        return [(str(host), int(port))]


class BoundedCluster(RedisCluster):
    """A cluster client whose commands wait for a free connection. The base class raises an error
    instead.
    """

    def __init__(self, **options: Any) -> None:
        # Update moved slots individually, because reading all slots again would close connections
        # in use.
        super().__init__(reinitialize_steps=0, **options)
        self.slots = asyncio.Semaphore(MOST_CONNECTIONS)

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        async with self.slots:
            await self.initialize()  # Otherwise the first commands go to any node.
            return await super().execute_command(*args, **options)


def open_client() -> Redis:
    """Create a Redis client for the running event loop. The caller closes it."""
    address = redis_address.parse(settings.REDIS_URL)
    options = connection_options(address)
    if address.kind is RedisKind.CLUSTER:
        nodes = [ClusterNode(host, port) for host, port in address.nodes]
        cluster = BoundedCluster(
            startup_nodes=nodes,
            retry=Retry(NoBackoff(), 1, BROKEN),
            ssl=address.is_encrypted,
            **options,
        )
        return cast(Redis, cluster)
    return Redis.from_pool(
        BlockingConnectionPool(
            **single_connection(address), max_connections=MOST_CONNECTIONS, timeout=WAIT_SECONDS
        )
    )


def layer_host() -> dict[str, Any]:
    """Return the entry for this Redis in the channel layer's `hosts` option."""
    address = redis_address.parse(settings.REDIS_URL)
    return {**single_connection(address), "health_check_interval": CHECK_SECONDS}


def single_connection(address: RedisAddress) -> dict[str, Any]:
    kind = TlsAddressConnection if address.is_encrypted else AddressConnection
    return {
        "connection_class": kind,
        "service": address,
        "db": address.database,
        "retry": Retry(NoBackoff(), 1, BROKEN),
        **connection_options(address),
    }


def blocking_client() -> redis.Redis:
    """Return the Redis client for code without an event loop. All threads of the process share it."""
    return open_blocking_client(settings.REDIS_URL)


@lru_cache(maxsize=4)
def open_blocking_client(url: str) -> redis.Redis:
    address = redis_address.parse(url)
    options = connection_options(address) | {"ssl": address.is_encrypted}
    retry = BlockingRetry(NoBackoff(), 1, BROKEN)
    if address.kind is RedisKind.CLUSTER:
        nodes = [BlockingClusterNode(*node) for node in address.nodes]  # type: ignore[no-untyped-call]
        cluster = redis.RedisCluster(startup_nodes=nodes, retry=retry, **options)
        return cast(redis.Redis, cluster)
    options |= {"db": address.database, "retry": retry}
    if address.kind is RedisKind.SENTINEL:
        once = {"retry": BlockingRetry(NoBackoff(), 0)}
        options_of_sentinels = sentinel_options(address) | once
        sentinel: Any = BlockingSentinel(address.nodes, sentinel_kwargs=options_of_sentinels)  # type: ignore[no-untyped-call]
        found: redis.Redis = sentinel.master_for(address.master, **options)
        return found
    host, port = address.nodes[0]
    return redis.Redis(host=host, port=port, **options)


@on_reset
def forget_clients() -> None:
    open_blocking_client.cache_clear()


def connection_options(address: RedisAddress) -> dict[str, Any]:
    credentials = {"credential_provider": CurrentCredentials(address)} if address.password else {}
    return {
        **credentials,
        **(address.tls if address.is_encrypted else {}),
        "socket_connect_timeout": ANSWER_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
        "socket_keepalive": True,
    }


def sentinel_options(address: RedisAddress) -> dict[str, Any]:
    parameters = address.parameters
    return {
        "username": parameters.get("sentinel_username"),
        "password": parameters.get("sentinel_password"),
        "ssl": address.is_encrypted,
        **(address.tls if address.is_encrypted else {}),
        "socket_connect_timeout": ANSWER_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
    }
