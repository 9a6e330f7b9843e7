"""The client and the model's service in lockstep: each token is sent when the previous one has
arrived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import httptools

from benchmarks.fake_llm import AFTER, BEFORE, END, Upstream
from benchmarks.load import TOKEN
from benchmarks.work.counting import WorkCounter

TOKEN_BYTES = b"1" * 19
SETTLE_SECONDS = 0.02
"""The time for the site to finish its work after a token or an answer."""


class SteppedUpstream(Upstream):
    """A service that writes each token when the client has received the previous one."""

    def __init__(self, counter: WorkCounter, asking: Callable[[], Any]) -> None:
        super().__init__()
        self.counter, self.asking = counter, asking

    def data_received(self, data: bytes) -> None:
        # What the site writes is read here immediately, in one piece.
        self.counter.work.writes += 1
        self.counter.work.bytes += len(data)
        self.counter.work.reads += 1  # of the answer, which is written in one piece
        self.counter.run_uncounted(super().data_received, data)

    def answer(self, request: bytes) -> None:
        self.exchange = self.asking()  # the site's connections outlive those of its clients
        super().answer(request)

    def say(self) -> None:
        if self.transport is None:
            return
        self.left -= 1
        token = BEFORE + TOKEN_BYTES + AFTER
        self.transport.write(token if self.left else token + END)
        self.exchange.next_token = self.continue_answer if self.left else None

    def continue_answer(self) -> None:
        self.counter.work.reads += 1
        self.counter.run_uncounted(self.say)


class Exchange(asyncio.Protocol):
    """A client's connection, which sends one request after another."""

    def __init__(self, counter: WorkCounter) -> None:
        self.loop = asyncio.get_running_loop()
        self.counter = counter
        self.next_token: Callable[[], None] | None = None
        self.text = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self, request: bytes, holds_at: int = 0) -> asyncio.Future[bytes]:
        """Return the body of the answer. If `holds_at` is not 0, return its beginning with that
        many tokens."""
        self.parser = httptools.HttpResponseParser(self)
        self.done: asyncio.Future[bytes] = self.loop.create_future()
        self.text, self.tokens, self.holds_at = b"", 0, holds_at
        self.counter.work.reads += 1
        self.transport.write(request)
        return self.done

    def data_received(self, data: bytes) -> None:
        self.counter.work.writes += 1
        self.counter.work.bytes += len(data)
        self.parser.feed_data(data)
        tokens = len(TOKEN.findall(self.text))
        if tokens == self.tokens:
            return
        self.tokens = tokens
        if tokens == self.holds_at:
            self.done.set_result(self.text)
        elif self.next_token is not None:
            self.loop.call_later(SETTLE_SECONDS, self.next_token)

    def on_body(self, body: bytes) -> None:
        self.text += body

    def on_message_complete(self) -> None:
        self.loop.call_later(SETTLE_SECONDS, self.finish, self.parser.get_status_code())

    def close(self) -> None:
        self.transport.abort()

    def finish(self, status: int) -> None:
        if status == 200:
            self.done.set_result(self.text)
        else:
            self.done.set_exception(RuntimeError(f"status {status}: {self.text!r}"))
