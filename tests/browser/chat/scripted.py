"""A scripted server for the page's socket.

It behaves like the real one (a journal that is replayed, a question that is accepted once) as far
as browser tests need it. Tests of scripts alone use `tests/scripts/support/scripted-socket.js`.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, WebSocketRoute

ADDRESS = re.compile(r"/ws/chat/")


@dataclass
class ScriptedSocket:
    """One new conversation. `say` sends events in it."""

    conversation: str = field(default_factory=lambda: str(uuid.uuid4()))
    title: str = "A conversation"
    run: str = ""
    journal: list[dict[str, Any]] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    viewers: list[WebSocketRoute] = field(default_factory=list)
    latest: WebSocketRoute | None = None
    """The socket that was opened last."""
    told: dict[WebSocketRoute, str] = field(default_factory=dict)
    """The run that each viewer was last told about."""
    deaf: bool = False
    """Accept messages without a response, like a dead peer."""

    def serve(self, page: Page) -> None:
        page.route_web_socket(ADDRESS, self.connect)

    def connect(self, viewer: WebSocketRoute) -> None:
        self.latest = viewer
        viewer.on_message(lambda text: self.take(viewer, json.loads(text)))

    def asked(self) -> list[str]:
        return [frame["text"] for frame in self.received if frame["type"] == "ask"]

    def take(self, viewer: WebSocketRoute, frame: dict[str, Any]) -> None:
        if frame["type"] == "watch":
            return  # this server has no list and no queue
        known = [sent.get("id") for sent in self.received if sent["type"] == "ask"]
        self.received.append(frame)
        if self.deaf:
            return
        if frame["type"] == "open":
            self.open(viewer, frame["after"])
        elif frame["type"] == "ask":
            if viewer not in self.viewers:
                self.open(viewer, 0)
            if frame["id"] not in known or not self.journal:
                self.begin(frame["text"])

    def open(self, viewer: WebSocketRoute, after: int) -> None:
        if viewer not in self.viewers:
            self.viewers.append(viewer)
        self.told.pop(viewer, None)
        run = {"id": self.run, "status": "running"} if self.run else None
        send(
            viewer,
            type="conversation.opened",
            conversation=self.conversation,
            title=self.title,
            last=len(self.journal),
            run=run,
        )
        for event in self.journal[after:]:
            self.tell(viewer, event)

    def begin(self, text: str) -> None:
        self.run = str(uuid.uuid4())
        message = {
            "id": str(uuid.uuid4()),
            "role": "user",
            "text": text,
            "created_at": "2026-01-05T10:00:00+00:00",
        }
        self.say(type="message.added", message=message)
        self.say(type="run.status", status="running")

    def say(self, **event: Any) -> None:
        sequenced = {
            **event,
            "conversation": self.conversation,
            "run": self.run,
            "seq": len(self.journal) + 1,
        }
        self.journal.append(sequenced)
        for viewer in self.viewers:
            self.tell(viewer, sequenced)

    def tell(self, viewer: WebSocketRoute, event: dict[str, Any]) -> None:
        """Send an event as the server does, without ids that the page already has."""
        told = {name: value for name, value in event.items() if name != "conversation"}
        if self.told.get(viewer) == event["run"]:
            del told["run"]
        self.told[viewer] = event["run"]
        send(viewer, **told)

    def write(self, *texts: str) -> None:
        for text in texts:
            self.say(type="message.delta", text=text)

    def end(self, status: str = "done", **message: Any) -> None:
        """Store the text as the answer, and end the run."""
        written = [
            event["text"]
            for event in self.journal
            if event["type"] == "message.delta" and event["run"] == self.run
        ]
        stored = {
            "id": str(uuid.uuid4()),
            "role": "assistant",
            "text": "".join(written),
            "attachments": [],
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 120, "completion_tokens": 34},
            "seconds": 2.4,
            **message,
        }
        self.say(type="message.complete", message=stored)
        self.say(type="run.status", status=status)
        self.run = ""

    def cut(self) -> None:
        """Drop the connections, like a failing network."""
        self.viewers.clear()
        assert self.latest is not None
        self.latest.close(code=3001, reason="")


def send(viewer: WebSocketRoute, **frame: Any) -> None:
    viewer.send(json.dumps(frame))
