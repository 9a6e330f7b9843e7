"""An ASGI application without Django, for tests of the server itself.

`python -m tests.site.server.raw_application` serves it as `quickapps_site.serve` serves the site.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from quickapps_site.middleware.bodies import body_limits, with_bounded_bodies
from quickapps_site.serve import serve
from quickapps_site.server import connections
from quickapps_site.server.graceful_server import Shutdown
from tests.site.server.raw_server import is_open

LIMITS = ((r"/small", 1000), (r"", 4_000_000))
FLOOD = 65_536
said = 0
"""Bytes that were passed to the server on the path `/flood`."""
left = asyncio.Event()
"""The client of the flood has disconnected."""


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await flood(receive, lambda text: send({"type": "websocket.send", "text": text}))
    elif scope["type"] == "http":
        await with_bounded_bodies(answer, body_limits(LIMITS), 60.0)(scope, receive, send)


async def answer(scope: Any, receive: Any, send: Any) -> None:
    size, pieces, goes_on = 0, 0, True
    while goes_on:
        message = await receive()
        size, pieces = size + len(message.get("body", b"")), pieces + 1
        goes_on = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})

    async def say(text: str, more: bool = True) -> None:
        await send({"type": "http.response.body", "body": text.encode(), "more_body": more})

    known = {
        "/loop": type(asyncio.get_running_loop()).__module__,
        "/client": scope["client"][0],
        "/": f"{size} in {'one piece' if pieces == 1 else 'pieces'}",
    }
    if scope["path"] in known:
        await say(known[scope["path"]])
    else:
        await TALKS[scope["path"]](receive, say, scope["server"][1])
    await say("", False)


async def torrent(receive: Any, say: Any, port: int) -> None:
    for number in range(2000):
        await say(f"{number:06}" * 1000)


async def tokens(receive: Any, say: Any, port: int) -> None:
    for number in range(50):
        await say(f"data: {number}\n\n")
        await asyncio.sleep(0)


async def slow(receive: Any, say: Any, port: int) -> None:
    """End once the server accepts no more connections."""
    await say("begun ")
    while await is_open(port):
        await asyncio.sleep(0.02)
    await say("ended")


async def endless(receive: Any, say: Any, port: int) -> None:
    await say("begun ")
    while (await receive())["type"] != "http.disconnect":
        pass


async def flood(receive: Any, say: Any, port: int = 0) -> None:
    global said
    leaving = asyncio.ensure_future(receive())
    while not leaving.done():
        try:
            await say("x" * FLOOD)
        except OSError:
            break
        said += FLOOD
        await asyncio.sleep(0)
    left.set()


async def flooded(receive: Any, say: Any, port: int) -> None:
    await left.wait()
    await say(f"{said}")


TALKS = {
    "/torrent": torrent,
    "/tokens": tokens,
    "/slow": slow,
    "/endless": endless,
    "/flood": flood,
    "/flooded": flooded,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--stalled", type=float, default=30.0)
    parser.add_argument("--grace", type=float, default=3.0)
    parser.add_argument("--proxies", nargs="*", default=[])
    given = parser.parse_args()
    connections.STALLED_SECONDS = given.stalled
    stopping = Shutdown(given.grace)
    sys.exit(
        serve(
            application,
            "127.0.0.1",
            given.port,
            trusted_proxies=given.proxies,
            stopping=stopping,
        )
    )
