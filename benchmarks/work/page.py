"""The chat page as a client: a tab that asks each question in a new conversation.

Its frames pass the ASGI application directly, so its reads and writes are frames.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from benchmarks.load import TOKEN
from benchmarks.systems import shipped
from benchmarks.work.counting import WorkCounter
from benchmarks.work.exchange import SETTLE_SECONDS

STORED_SECONDS = 0.3
"""The time for the site to store an answer after its end."""
TICK_SECONDS = 0.05
"""The interval at which rows of runs and calls are written, so that answers are counted sooner."""
USER = "bench"


class PageExchange:
    """A tab of a signed-in user, with the same methods as `Exchange`."""

    def __init__(self, counter: WorkCounter, application: Any, cookie: str) -> None:
        self.loop = asyncio.get_running_loop()
        self.counter = counter
        self.next_token: Callable[[], None] | None = None
        self.is_accepted = asyncio.Event()
        self.incoming: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.incoming.put_nowait({"type": "websocket.connect"})
        headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
        scope = {
            "type": "websocket",
            "path": f"/ws/chat/{shipped.SLUG}/",
            "query_string": b"",
            "headers": [*headers, (b"cookie", cookie.encode())],
            "client": ("127.0.0.1", 50000),
            "subprotocols": [],
        }
        self.serving = self.loop.create_task(application(scope, self.incoming.get, self.receive))

    def ask(self, request: bytes, holds_at: int = 0) -> asyncio.Future[bytes]:
        """Return the frames of the answer once it is stored. If `holds_at` is not 0, return its
        beginning with that many tokens."""
        self.done: asyncio.Future[bytes] = self.loop.create_future()
        self.text, self.tokens, self.holds_at = b"", 0, holds_at
        frame = {**json.loads(request), "id": str(uuid4())}
        self.counter.work.reads += 1
        self.incoming.put_nowait({"type": "websocket.receive", "text": json.dumps(frame)})
        return self.done

    async def receive(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "websocket.accept":
            self.is_accepted.set()
        if message["type"] != "websocket.send":
            return
        written = message["text"].encode()
        self.counter.work.writes += 1
        self.counter.work.bytes += len(written)
        self.counter.run_uncounted(self.read, written)

    def read(self, written: bytes) -> None:
        self.text += written
        frame = json.loads(written)
        tokens = len(TOKEN.findall(self.text))
        if frame["type"] == "run.status" and frame["status"] == "done":
            self.loop.call_later(STORED_SECONDS, self.done.set_result, self.text)
        elif tokens != self.tokens:
            self.tokens = tokens
            if tokens == self.holds_at:
                self.done.set_result(self.text)
            elif self.next_token is not None:
                self.loop.call_later(SETTLE_SECONDS, self.next_token)

    def close(self) -> None:
        self.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})


def session_cookie() -> str:
    """Create a user, and return the cookie of their session."""
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    user, _ = User.objects.get_or_create(username=USER)
    client.force_login(user)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())


def stored_rows() -> int:
    """Return the number of rows in all tables."""
    from django.apps import apps

    return sum(model._default_manager.count() for model in apps.get_models() if model._meta.managed)
