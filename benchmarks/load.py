"""Load clients: many connections, each of which asks one question after another."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import httptools

TOKEN = re.compile(rb"<(\d{19})>")
SECONDS = 120.0


@dataclass(frozen=True)
class Question:
    """A question. `tool` is the name of the tool that the fake model calls first, or ""."""

    tokens: int = 1
    delay_ms: float = 0
    first_ms: float = 0
    tool: str = ""

    def write(self, path: str, key: str, application: str = "") -> bytes:
        """Build the request. `application` is the name that DIAL Core would send."""
        wish = (
            f"tokens={self.tokens} delay_ms={self.delay_ms} "
            f"first_ms={self.first_ms} tool={self.tool}"
        )
        messages = [{"role": "user", "content": wish}]
        fields = {"model": "bench", "stream": True, "messages": messages}
        body = json.dumps(fields).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Api-Key: {key}\r\nContent-Length: {len(body)}\r\n"
        )
        named = f"X-DIAL-APPLICATION-ID: {application}\r\n" if application else ""
        return f"{head}{named}\r\n".encode() + body


@dataclass
class Outcome:
    """The outcome of many questions. Times are in milliseconds, and only answers without errors
    count."""

    answers: int = 0
    tokens: int = 0
    errors: list[str] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    """Times from the question to the first token."""
    under_way: list[float] = field(default_factory=list)
    """Times from the model to the client, per token."""


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Client(asyncio.Protocol):
    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.done: asyncio.Future[str] = self.loop.create_future()
        self.under_way: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.finish("closed")

    def ask(self, request: bytes) -> asyncio.Future[str]:
        """Ask one question. Return "" or the problem."""
        self.parser = httptools.HttpResponseParser(self)
        self.done = self.loop.create_future()
        self.rest = b""
        self.began = time.monotonic_ns()
        self.first = 0.0
        self.under_way = []
        self.transport.write(request)
        return self.done

    def data_received(self, data: bytes) -> None:
        self.now = time.monotonic_ns()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.finish(f"not HTTP: {error}")

    def on_body(self, body: bytes) -> None:
        text = self.rest + body
        end = 0
        for token in TOKEN.finditer(text):
            if not self.under_way:
                self.first = (self.now - self.began) / 1e6
            self.under_way.append((self.now - int(token[1])) / 1e6)
            end = token.end()
        self.rest = text[end:][-600:]

    def on_message_complete(self) -> None:
        status = self.parser.get_status_code()
        if status != 200:
            self.finish(f"status {status}: {self.rest[-300:]!r}")
        elif b"[DONE]" not in self.rest:
            self.finish(f"no end: {self.rest[-300:]!r}")
        else:
            self.finish("")

    def finish(self, text: str) -> None:
        if not self.done.done():
            self.done.set_result(text)


async def connect(port: int, count: int) -> list[Client]:
    loop = asyncio.get_running_loop()
    clients: list[Client] = []
    while len(clients) < count:
        some = min(100, count - len(clients))
        pairs = await asyncio.gather(
            *(loop.create_connection(Client, "127.0.0.1", port) for _ in range(some))
        )
        clients += [client for _, client in pairs]
    return clients


async def ask_all(
    clients: Sequence[Client], request: bytes, question: Question, times: int
) -> Outcome:
    """Let every client ask `times` times, all clients in parallel."""
    outcome = Outcome()

    async def one(client: Client) -> None:
        for _ in range(times):
            try:
                async with asyncio.timeout(SECONDS):
                    error = await client.ask(request)
            except TimeoutError:
                error = "no answer in time"
            if not error and len(client.under_way) != question.tokens:
                error = f"{len(client.under_way)} tokens instead of {question.tokens}"
            if error:
                outcome.errors.append(error)
                return
            outcome.answers += 1
            outcome.tokens += len(client.under_way)
            outcome.first.append(client.first)
            outcome.under_way += client.under_way

    await asyncio.gather(*(one(client) for client in clients))
    return outcome


async def load(
    port: int, request: bytes, question: Question, *, clients: int, times: int
) -> Outcome:
    """Connect, ask, and disconnect."""
    connected = await connect(port, clients)
    try:
        return await ask_all(connected, request, question, times)
    finally:
        for client in connected:
            client.transport.close()
