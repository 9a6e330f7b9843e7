"""The end of asyncio's servers."""

from __future__ import annotations

import asyncio
import gc
import socket

from tests.servers.closing import close_server


async def test_a_connection_at_any_turn_before_the_end_is_attached_or_refused():
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    for turns in range(8):
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        closing = asyncio.ensure_future(close_server(server))
        for _ in range(turns):
            await asyncio.sleep(0)
        with socket.socket() as client:
            client.setblocking(False)
            client.connect_ex(address)
            await closing
            await server.wait_closed()
        for _ in range(5):
            await asyncio.sleep(0)
        gc.collect()  # a lost connection is a warning, which is an error
