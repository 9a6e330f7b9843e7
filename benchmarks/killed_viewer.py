"""A page that follows one run to its end, even if the process that it is connected to is killed."""

from __future__ import annotations

import threading
import time
from typing import Any

from benchmarks.killed_fleet import Fleet
from tests.sites.websocket import PageSocket

PATIENCE = 90.0
OVER = frozenset({"done", "failed", "stopped"})


class Viewer:
    """A viewer of one run. `text` is the answer assembled from the frames, and `stored` the answer
    in the last frame. `continued` are the times at which the page learned that another process
    continues the run."""

    def __init__(self, fleet: Fleet, kind: str, cookie: str, conversation: str, place: int) -> None:
        self.fleet = fleet
        self.kind = kind
        self.cookie = cookie
        self.conversation = conversation
        self.place = place
        self.text = ""
        self.stored: str | None = None
        self.status = ""
        self.last = 0
        self.continued: list[float] = []
        self.is_watching = True
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def wait(self) -> None:
        self.thread.join()

    def watch(self) -> None:
        """Connect to one process after another until the run is over."""
        end = time.monotonic() + PATIENCE
        try:
            while self.status not in OVER and time.monotonic() < end:
                try:
                    self.follow(self.fleet.urls[self.place % len(self.fleet.urls)])
                except (OSError, AssertionError):
                    time.sleep(0.1)
                self.place += 1
        finally:
            self.is_watching = False

    def follow(self, url: str) -> None:
        """Return when the run is over or the process has ended. Raises `OSError`."""
        tab = PageSocket(url, self.kind, self.cookie)
        try:
            tab.send({"type": "open", "conversation": self.conversation, "after": self.last})
            while self.status not in OVER and (frame := tab.frame()) is not None:
                self.take(frame)
        finally:
            tab.close()

    def take(self, frame: dict[str, Any]) -> None:
        self.last = frame.get("seq", self.last)
        match frame["type"]:
            case "message.delta":
                self.text += frame["text"]
            case "answer.restarted":
                self.text = frame["text"]
            case "message.complete":
                self.stored = frame["message"]["text"]
            case "run.status":
                self.status = frame["status"]
            case "run.continued":
                self.continued.append(time.monotonic())
            case _:
                pass
