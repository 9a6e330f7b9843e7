"""Redis as operators run it, on free loopback ports: one server, TLS, a Sentinel set, a cluster."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography.hazmat.primitives import serialization
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.servers.tls import pem, signed
from tests.sites.serving import free_port

LONGEST = 30.0
PAUSE = 0.02
SLOTS = 16384
NO_RETRY = Retry(NoBackoff(), 0)
"""The client's backoff takes seconds."""
Server = subprocess.Popen[bytes]


def client_of(port: int, password: str | None = None) -> redis.Redis:
    return redis.Redis(port=port, password=password, socket_timeout=1.0, retry=NO_RETRY)


def until(is_so: Callable[[], Any], what: str) -> Any:
    """Wait until Redis is in the expected state. Refused connections are retried."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            if found := is_so():
                return found
        except redis.RedisError:
            pass
        time.sleep(PAUSE)
    raise AssertionError(f"{what} within {LONGEST:g} s.")


@contextmanager
def serve(folder: Path, port: int, *options: str, sentinel: bool = False) -> Iterator[Server]:
    """Run a server, or a Sentinel with the folder's `sentinel.conf`, and kill it at the end."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("Redis tests skipped: redis-server is not installed.")
    folder.mkdir(exist_ok=True)
    mode = [str(folder / "sentinel.conf"), "--sentinel"] if sentinel else ["--save", ""]
    command = [program, *mode, "--bind", "127.0.0.1", "--dir", str(folder)]
    command += [*(() if "--tls-port" in options else ("--port", str(port))), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            if "--tls-port" not in options:
                with client_of(port) as client:
                    until(lambda: answers(client), "Redis starts")
            yield process
        finally:
            process.kill()


def answers(client: redis.Redis) -> bool:
    """Return True if the server answers, even with the error that a password is missing."""
    try:
        client.ping()
    except redis.AuthenticationError:
        return True
    return True


@contextmanager
def redis_at(port: int, folder: Path) -> Iterator[Server]:
    with serve(folder, port) as server:
        yield server


@contextmanager
def serve_with_tls(folder: Path) -> Iterator[str]:
    """Serve with a password and client certificates of its own authority. Yields the address."""
    authority, authority_key = signed("Harbour Authority")
    files = {"ca": folder / "ca.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"}
    certificate, key = signed("Harbour", (authority.subject, authority_key))
    files["ca"].write_bytes(pem(authority))
    files["cert"].write_bytes(pem(certificate))
    files["key"].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    port = free_port()
    options = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "yes"]
    options += ["--tls-ca-cert-file", str(files["ca"]), "--tls-cert-file", str(files["cert"])]
    options += ["--tls-key-file", str(files["key"]), "--requirepass", "p@ss/word"]
    parameters = (
        f"ssl_ca_certs={files['ca']}&ssl_certfile={files['cert']}&ssl_keyfile={files['key']}"
    )
    url = f"rediss://:p%40ss%2Fword@127.0.0.1:{port}/0?{parameters}"
    with serve(folder, port, *options), redis.Redis.from_url(url, retry=NO_RETRY) as client:
        until(client.ping, "Redis starts")
        yield url


@dataclass(frozen=True, slots=True)
class SentinelSet:
    url: str
    master: Server
    replica: Server


@contextmanager
def serve_sentinel_set(folder: Path) -> Iterator[SentinelSet]:
    """Serve a master, its replica, and a Sentinel with a password, which promotes the replica after
    half a second."""
    first, second, watching = free_port(), free_port(), free_port()
    folder.mkdir(exist_ok=True)
    (folder / "sentinel.conf").write_text(
        f"sentinel monitor shop 127.0.0.1 {first} 1\n"
        "sentinel down-after-milliseconds shop 500\n"
        "sentinel failover-timeout shop 3000\n"
        "sentinel auth-pass shop secret\n"
        "requirepass watching\n"
    )
    replication = [
        "--requirepass",
        "secret",
        "--masterauth",
        "secret",
        "--repl-diskless-sync-delay",
    ]
    with (
        serve(folder / "1", first, *replication, "0") as master,
        serve(
            folder / "2", second, *replication, "0", "--replicaof", f"127.0.0.1 {first}"
        ) as replica,
        client_of(second, "secret") as follower,
    ):
        until(lambda: follower.info()["master_link_status"] == "up", "The replica follows")
        with (
            serve(folder, watching, sentinel=True),
            client_of(watching, "watching") as sentinel,
        ):
            until(lambda: sentinel.sentinel_slaves("shop"), "The Sentinel knows the replica")
            yield SentinelSet(
                f"redis+sentinel://:secret@127.0.0.1:{watching}/shop/0?sentinel_password=watching",
                master,
                replica,
            )


@dataclass(frozen=True, slots=True)
class Cluster:
    url: str
    masters: tuple[Server, ...]


@contextmanager
def serve_cluster(folder: Path) -> Iterator[Cluster]:
    """Serve three masters."""
    ports = [(free_port(), free_port()) for _ in range(3)]
    folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        masters, clients = [], []
        for port, bus in ports:
            options = ["--cluster-enabled", "yes", "--cluster-port", str(bus)]
            options += ["--cluster-node-timeout", "2000"]
            masters.append(stack.enter_context(serve(folder / str(port), port, *options)))
            clients.append(stack.enter_context(client_of(port)))
        for number, client in enumerate(clients):
            slots = SLOTS * number // 3, SLOTS * (number + 1) // 3 - 1
            client.execute_command("CLUSTER ADDSLOTSRANGE", *slots)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for port, bus in ports[1:]:
            clients[0].execute_command("CLUSTER MEET", "127.0.0.1", port, bus)
        for client in clients:
            until(partial(is_complete, client), "The cluster is complete")
        hosts = ",".join(f"127.0.0.1:{port}" for port, _ in ports)
        yield Cluster(f"redis+cluster://{hosts}", tuple(masters))


def is_complete(client: redis.Redis) -> bool:
    found = client.cluster("INFO")
    return (found["cluster_state"], found["cluster_known_nodes"]) == ("ok", "3")
