"""A viewer that leaves and rejoins an answer repeatedly, and resumes after the newest event that it
has."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal
from urllib.parse import urlsplit

from tests.sites.websocket import PATIENCE, PageSocket

Kind = Literal["WebSocket", "SSE"]

OVER = frozenset({"done", "failed", "stopped"})
MEAN_FRAMES = 120.0
"""The duration of one visit."""
MOST_AWAY_SECONDS = 3.0
RETRY_SECONDS = 0.2


class LeavingViewer:
    """A viewer of one answer. `text` is assembled from the deltas, and `complete` is the text of
    the last frame. `marks` are number and type of all frames without text. Unless it `stays`, the
    viewer leaves permanently after some visits."""

    def __init__(
        self, site: str, slug: str, cookie: str, conversation: str, kind: Kind, seed: int
    ) -> None:
        self.site, self.slug, self.cookie = site, slug, cookie
        self.conversation = conversation
        self.kind = kind
        self.random = random.Random(seed)
        self.stays = self.random.random() < 0.9
        self.most_visits = self.random.randint(1, 4)
        self.text = self.stage_text = ""
        self.complete: str | None = None
        self.status = ""
        self.last = self.visits = self.doubled = self.failures = 0
        self.marks: list[tuple[int, str]] = []
        self.end = time.monotonic() + 10 * PATIENCE
        self.thread = threading.Thread(target=self.watch, daemon=True)

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def has_left(self) -> bool:
        return not self.stays and self.visits >= self.most_visits

    def watch(self) -> None:
        while not (self.is_over or self.has_left or time.monotonic() > self.end):
            try:
                self.visit(1 + int(self.random.expovariate(1 / MEAN_FRAMES)))
            except (OSError, AssertionError, HTTPException):
                self.failures += 1
                time.sleep(RETRY_SECONDS)
            if not self.is_over:
                time.sleep(self.random.uniform(0, MOST_AWAY_SECONDS))

    def visit(self, most: int) -> None:
        """Read up to that many frames, or fewer if the answer ends. Raises `OSError`."""
        frames = self.socket_frames() if self.kind == "WebSocket" else self.stream_frames()
        self.visits += 1
        with closing(frames):
            for _, frame in zip(range(most), frames, strict=False):
                self.take(frame)
                if self.is_over:
                    return

    def socket_frames(self) -> Iterator[dict[str, Any]]:
        tab = PageSocket(self.site, self.slug, self.cookie)
        try:
            tab.send({"type": "open", "conversation": self.conversation, "after": self.last})
            while (frame := tab.frame()) is not None:
                yield frame
        finally:
            tab.close()

    def stream_frames(self) -> Iterator[dict[str, Any]]:
        connection = HTTPConnection(urlsplit(self.site).netloc, timeout=PATIENCE)
        try:
            address = f"/api/notifications?conversation={self.conversation}"
            headers = {"cookie": self.cookie, "last-event-id": str(self.last)}
            connection.request("GET", address, headers=headers)
            response = connection.getresponse()
            assert response.status == 200, response.status
            while line := response.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))
        finally:
            connection.close()

    def take(self, frame: dict[str, Any]) -> None:
        if "seq" not in frame:
            return
        self.doubled += frame["seq"] <= self.last
        self.last = frame["seq"]
        match frame["type"]:
            case "message.delta":
                self.text += frame["text"]
                return
            case "stage.delta" if "text" in frame:
                self.stage_text += frame["text"]
                return
            case "message.complete":
                self.complete = frame["message"]["text"]
            case "run.status":
                self.status = frame["status"]
            case _:
                pass
        self.marks.append((frame["seq"], frame["type"]))
