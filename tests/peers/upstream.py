"""A model service on the loopback that follows the command in the last question.

status N     refuses with that status
break        sends a word and drops the connection
hang         sends a word and waits until the connection is closed
call NAME    calls that tool, and reports the result; arguments may follow as JSON
think KEY…   reasons under that key, then sends the rest; "think KEY call NAME" calls a tool.
             Reasoning that is sent back under another key is refused, as Groq does
refuse       refuses in a text, as models do
limit N      returns a rate limit; the fourth time with a retry after N seconds
other words  are repeated word by word
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers.http import serving

PATIENCE = 60.0


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
        words = self.wish(body)
        if words[0] in ("status", "limit"):
            self.turn_away(*words)
            return
        if words[0] == "think" and (thoughts_in(body) - {words[1]}):
            self.refuse(400)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        if words[0] == "think":
            self.think(words[1], is_first=result(body) is None)
            words = words[2:]
        self.answer(body, words)

    def answer(self, body: dict[str, Any], words: list[str]) -> None:
        """Send the answer to the words of the last question."""
        if words[0] in ("break", "hang"):
            self.say({"content": "Well"})
            if words[0] == "hang":
                self.wait_until_left()
            else:
                self.connection.shutdown(socket.SHUT_RDWR)
        elif words[0] == "call" and result(body) is None:
            arguments = " ".join(words[2:]) or json.dumps({"city": "Oslo"})
            function = {"name": words[1], "arguments": arguments}
            call = {"index": 0, "id": f"call-{len(self.upstream.asked)}", "function": function}
            self.say({"tool_calls": [call | {"type": "function"}]})
            self.finish_answer("tool_calls")
        else:
            for number, word in enumerate(answer_words(body, words)):
                said = word if number == 0 else f" {word}"
                self.say(
                    {"refusal" if words == ["refuse"] else "content": said},
                    logprobs=logprobs(said) if body.get("logprobs") else None,
                )
            self.finish_answer("stop")

    def wish(self, body: dict[str, Any]) -> list[str]:
        """Return the words of the last question."""
        questions = [message for message in body["messages"] if message["role"] == "user"]
        return str(questions[-1]["content"]).split()

    def think(self, key: str, *, is_first: bool) -> None:
        """Send reasoning as OpenRouter does, including its details, before each answer."""
        for word in ("Let me ", "see.") if is_first else ("Now I ", "know."):
            details = [{"type": "reasoning.text", "text": word}]
            self.say({"content": "", key: word, "reasoning_details": details})

    def turn_away(self, why: str, told_of: str) -> None:
        """Refuse a request. Clients retry three times after a rate limit."""
        if why == "status":
            self.refuse(int(told_of))
            return
        asked = self.upstream.asked
        last = asked[-1]["messages"]
        is_last = sum(body["messages"] == last for body in asked) % 4 == 0
        self.refuse(429, {"retry-after": told_of.replace("_", " ")} if is_last else {})

    def refuse(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        error = {"message": f"refused with {status}", "type": "t", "code": f"upstream_{status}"}
        body = json.dumps({"error": error}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def say(self, delta: dict[str, Any], **fields: Any) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": fields.pop("finish_reason", None)}
        choice["logprobs"] = fields.pop("logprobs", None)
        chunk = {"id": "u", "object": "chat.completion.chunk", "choices": [choice], **fields}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def finish_answer(self, reason: str) -> None:
        usage = {
            "prompt_tokens": 5,
            "completion_tokens": 2,
            "total_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 1},
        }
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


def thoughts_in(body: dict[str, Any]) -> set[str]:
    """Return the keys under which reasoning was sent back."""
    return {key for message in body["messages"] for key in message} & {
        "reasoning_content",
        "reasoning",
        "thinking",
    }


def logprobs(token: str) -> dict[str, Any]:
    told = {"token": token, "logprob": -0.5, "bytes": list(token.encode()), "top_logprobs": []}
    return {"content": [told], "refusal": None}


def answer_words(body: dict[str, Any], words: list[str]) -> list[str]:
    if words == ["refuse"]:
        return ["I", "may", "not."]
    brought = result(body)
    return words if brought is None else ["It", "brought", brought]


def result(body: dict[str, Any]) -> str | None:
    """Return the result of the newest call, or None after a question, even if something was
    injected there."""
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            return None
        if message["role"] == "tool" and not message["tool_call_id"].startswith("synth"):
            return str(message["content"])
    return None


@contextmanager
def serve_upstream(answering: type[Handler] = Handler) -> Iterator[Upstream]:
    upstream = Upstream()
    handler = type("BoundHandler", (answering,), {"upstream": upstream})
    with serving(handler) as address:
        upstream.url = f"{address}/v1"
        yield upstream
