"""A model service on the loopback that does what the last question says.

status N     refuses with that status
break        says a word and cuts the connection
hang         says a word and waits until the connection is closed
call NAME    calls that tool, and reports what it brought
anything     is repeated, word by word
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 20.0


@dataclass
class Upstream:
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    is_asked: threading.Event = field(default_factory=threading.Event)
    is_left: threading.Event = field(default_factory=threading.Event)
    """The service's client closed a connection that was still in use."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: Upstream

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.upstream.asked.append(body)
        words = wish(body)
        if words[0] == "status":
            self.refuse(int(words[1]))
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        if words[0] in ("break", "hang"):
            self.say({"content": "Well"})
            if words[0] == "hang":
                self.wait_until_left()
            else:
                self.connection.shutdown(socket.SHUT_RDWR)
        elif words[0] == "call" and result(body) is None:
            function = {"name": words[1], "arguments": json.dumps({"city": "Oslo"})}
            call = {"index": 0, "id": f"call-{len(self.upstream.asked)}", "function": function}
            self.say({"tool_calls": [call | {"type": "function"}]})
            self.finish_answer("tool_calls")
        else:
            for number, word in enumerate(answer_words(body, words)):
                self.say({"content": word if number == 0 else f" {word}"})
            self.finish_answer("stop")

    def refuse(self, status: int) -> None:
        error = {"message": f"refused with {status}", "type": "t", "code": f"upstream_{status}"}
        body = json.dumps({"error": error}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say(self, delta: dict[str, Any], **fields: Any) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": fields.pop("finish_reason", None)}
        chunk = {"id": "u", "object": "chat.completion.chunk", "choices": [choice], **fields}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def finish_answer(self, reason: str) -> None:
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        self.say({}, finish_reason=reason, usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")

    def wait_until_left(self) -> None:
        self.upstream.is_asked.set()
        self.connection.settimeout(PATIENCE)
        try:
            rest = self.connection.recv(1)
        except ConnectionError:
            rest = b""
        if not rest:
            self.upstream.is_left.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def wish(body: dict[str, Any]) -> list[str]:
    """The words of the last question."""
    questions = [message for message in body["messages"] if message["role"] == "user"]
    return str(questions[-1]["content"]).split()


def answer_words(body: dict[str, Any], words: list[str]) -> list[str]:
    brought = result(body)
    return words if brought is None else ["It", "brought", brought]


def result(body: dict[str, Any]) -> str | None:
    """What the newest call brought; None behind a question, also if something was put in there."""
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            return None
        if message["role"] == "tool" and not message["tool_call_id"].startswith("synth_"):
            return str(message["content"])
    return None


@contextmanager
def serve_upstream() -> Iterator[Upstream]:
    upstream = Upstream()
    handler = type("BoundHandler", (Handler,), {"upstream": upstream})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        upstream.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield upstream
        server.shutdown()
