"""The end of asyncio's servers."""

import asyncio

TURNS = 3
"""The turns of the event loop in which it attaches the connections that it has accepted."""


async def close_server(server: asyncio.Server) -> None:
    """Close the server. It stops accepting connections first, because asyncio loses a connection,
    unclosed, if its server closes between accepting and attaching it.
    """
    loop = asyncio.get_running_loop()
    for listening in server.sockets:
        loop.remove_reader(listening.fileno())
    for _ in range(TURNS):
        await asyncio.sleep(0)
    server.close()
