"""A model and its tools on the loopback: a quick tool first, then one that never ends by itself.

The model below `/busy` is overloaded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers.http import serving

SAYS = ("Looking. ", "One more. ", "Done.")
TOOLS = ("quick", "slow")


@dataclass
class SlowService:
    """`called` are the tools in order, with the keys that identify a repeated call."""

    url: str = ""
    asked: int = 0
    refused: int = 0
    """The requests to the overloaded model."""
    called: list[tuple[str, str]] = field(default_factory=list)
    is_slow: threading.Event = field(default_factory=threading.Event)
    """The slow tool was called."""
    may_end: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: SlowService

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.startswith("/busy/"):
            self.service.refused += 1
            self.send_error(503)
            return
        self.service.asked += 1
        # Other results were added by capabilities.
        answered = [message.get("tool_call_id", "") for message in body["messages"]]
        turn = sum(str(one).startswith("call-") for one in answered)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.say({"content": SAYS[turn]})
        if turn < len(TOOLS):
            function = {"name": f"shop_{TOOLS[turn]}", "arguments": "{}"}
            call = {"index": 0, "id": f"call-{turn}", "type": "function", "function": function}
            self.say({"tool_calls": [call]})
        self.say({}, "tool_calls" if turn < len(TOOLS) else "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def say(self, delta: dict[str, Any], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {"id": "s", "object": "chat.completion.chunk", "choices": [choice]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        self.service.called.append((name, self.headers.get("idempotency-key", "")))
        if name == "slow":
            self.service.is_slow.set()
            self.service.may_end.wait(60)
        body = json.dumps({"result": name}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


@contextmanager
def serve_slow_service() -> Iterator[SlowService]:
    service = SlowService()
    handler = type("Handler", (Handler,), {"service": service})
    with serving(handler) as service.url:
        try:
            yield service
        finally:
            service.may_end.set()
