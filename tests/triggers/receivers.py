"""A receiver of events: a real server on a loopback port with scripted responses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from standardwebhooks.webhooks import Webhook as Signer

from tests.servers.http import serving


class Receiver:
    """`answers` are the statuses of the next requests, followed by 204. Until it `may_answer`,
    requests are only accepted."""

    def __init__(self, answers: Sequence[int] = ()) -> None:
        self.answers = list(answers)
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.requests]

    def bodies(self, secret: str) -> list[Any]:
        """Return the bodies. Each must have a valid signature."""
        for headers, body in self.requests:
            Signer(secret).verify(body, headers)
        return [json.loads(body) for _, body in self.requests]


@contextmanager
def receiver(*answers: int) -> Iterator[Receiver]:
    kept = Receiver(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            kept.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
            kept.may_answer.wait(60)
            with suppress(OSError):  # the sender may have been killed
                self.answer()

        def answer(self) -> None:
            self.send_response(kept.answers.pop(0) if kept.answers else 204)
            self.send_header("content-length", "0")
            self.end_headers()

    with serving(Handler) as address:
        kept.url = f"{address}/events"
        yield kept
