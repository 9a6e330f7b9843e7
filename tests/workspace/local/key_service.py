"""A model service on the loopback that answers requests with a known key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = {"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}
USED = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}


@dataclass
class KeyedService:
    """`keys` are accepted; those in `spent` have no credit. `sent` are the keys of all requests."""

    url: str = ""
    keys: set[str] = field(default_factory=set)
    spent: set[str] = field(default_factory=set)
    sent: list[str] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    service: KeyedService

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.service.sent.append(key)
        if key in self.service.keys:
            lines = (*map(json.dumps, (ANSWER, USED)), "[DONE]")
            text = "".join(f"data: {line}\n\n" for line in lines)
            self.reply(200, "text/event-stream", text)
            return
        status, code = (
            (429, "insufficient_quota") if key in self.service.spent else (401, "invalid_api_key")
        )
        error = {"error": {"message": f"No good: {key}", "code": code}}
        self.reply(status, "application/json", json.dumps(error))

    def reply(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Disable logging."""


@contextmanager
def serve_keyed(*keys: str) -> Iterator[KeyedService]:
    service = KeyedService(keys=set(keys))
    handler = type("Bound", (Handler,), {"service": service})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
