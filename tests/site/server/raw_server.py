"""Processes that serve `raw_application`, and plain connections to them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from tests.load.processes import until
from tests.sites.serving import free_port

PATIENCE = 120.0
OURS = ("-m", "tests.site.server.raw_application", "{port}")
DAPHNE = ("-m", "daphne", "-p", "{port}", "tests.site.server.raw_application:application")
"""The server of `manage.py runserver`."""


ENVIRONMENT = {**os.environ, "DJANGO_SETTINGS_MODULE": "quickapps_site.settings"}


@contextmanager
def shared(command: tuple[str, ...]) -> Iterator[int]:
    """Return the port of a server that several tests use."""
    port = free_port()
    arguments = [sys.executable, *(part.format(port=port) for part in command)]
    with subprocess.Popen(arguments, env=ENVIRONMENT, stderr=subprocess.DEVNULL) as process:
        try:
            assert until(PATIENCE, lambda: process.poll() or asyncio.run(is_open(port))) is True
            yield port
        finally:
            process.kill()


async def start(port: int, command: tuple[str, ...]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *(part.format(port=port) for part in command),
        env=ENVIRONMENT,
        stderr=asyncio.subprocess.PIPE,
        # Shells let background processes ignore it, and child processes inherit this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@asynccontextmanager
async def served(
    *options: str, command: tuple[str, ...] = OURS
) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    port = free_port()
    process = await start(port, (*command, *options))
    try:
        async with asyncio.timeout(PATIENCE):
            await until_it_listens(process, port)
            yield process, port
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def until_it_listens(process: asyncio.subprocess.Process, port: int) -> None:
    while not await is_open(port):
        assert process.returncode is None, "The server ended before it listened."
        await asyncio.sleep(0.02)


async def is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def ask(
    port: int, path: str, body: bytes = b"", *, headers: str = "", address: str = "127.0.0.1"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send a request whose answer ends with its connection. `address` is the source address."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    return reader, writer


async def answer(
    port: int, path: str, body: bytes = b"", *, headers: str = "", address: str = "127.0.0.1"
) -> str:
    reader, writer = await ask(port, path, body, headers=headers, address=address)
    whole = await reader.read()
    writer.close()
    await writer.wait_closed()
    return joined(whole).decode()


def joined(whole: bytes) -> bytes:
    """Return the body of a chunked answer."""
    chunks, at = [], whole.index(b"\r\n\r\n") + 4
    while at < len(whole):
        end = whole.index(b"\r\n", at)
        size = int(whole[at:end], 16)
        chunks.append(whole[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(chunks)
