"""A model service that sends more than anyone reads, as fast as the network allows."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.servers.http import serving

PIECE = "x" * 16_384


@dataclass
class Torrent:
    """`pieces` are those of one answer; `said` counts those that were passed to the network."""

    pieces: int
    url: str = ""
    said: int = 0
    is_over: threading.Event = field(default_factory=threading.Event)
    """The answer has ended, or its client has disconnected."""


class Handler(BaseHTTPRequestHandler):
    torrent: Torrent

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        choice = {"index": 0, "delta": {"content": PIECE}, "finish_reason": None}
        piece = b"data: %b\n\n" % json.dumps({"choices": [choice]}).encode()
        try:
            for _ in range(self.torrent.pieces):
                self.wfile.write(piece)
                self.torrent.said += 1
            self.wfile.write(b"data: [DONE]\n\n")
        except ConnectionError:
            pass
        finally:
            self.torrent.is_over.set()


@contextmanager
def serve_torrent(pieces: int) -> Iterator[Torrent]:
    torrent = Torrent(pieces)
    handler = type("BoundHandler", (Handler,), {"torrent": torrent})
    with serving(handler) as address:
        torrent.url = f"{address}/v1"
        yield torrent
