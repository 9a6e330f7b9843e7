"""The server's side of the page's socket, word by word as a test wants it.

It keeps the promises of the real one (a journal that is replayed, a question that is taken once)
and can break off whenever a test says so.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, WebSocketRoute

ADDRESS = re.compile(r"/ws/chat/")


@dataclass
class ScriptedSocket:
    """One conversation. Use `say` to let something happen in it."""

    conversation: str = field(default_factory=lambda: str(uuid.uuid4()))
    title: str = "A conversation"
    run: str = ""
    journal: list[dict[str, Any]] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    viewers: list[WebSocketRoute] = field(default_factory=list)
    everybody: list[WebSocketRoute] = field(default_factory=list)
    told: dict[WebSocketRoute, str] = field(default_factory=dict)
    """The run of which each viewer was told last."""
    hidden: set[str] = field(default_factory=set)
    """The runs of other branches."""
    deaf: bool = False
    """Take what is sent as a dead peer does: without a word."""

    def serve(self, page: Page) -> None:
        page.route_web_socket(ADDRESS, self.connect)

    def connect(self, viewer: WebSocketRoute) -> None:
        self.everybody.append(viewer)
        viewer.on_message(lambda text: self.take(viewer, json.loads(text)))
        for conversation in parse_qs(urlsplit(viewer.url).query).get("open", ()):
            frame = {"type": "open", "conversation": conversation, "after": 0, "window": True}
            self.take(viewer, frame)

    def asked(self) -> list[str]:
        return [frame["text"] for frame in self.received if frame["type"] == "ask"]

    def take(self, viewer: WebSocketRoute, frame: dict[str, Any]) -> None:
        if frame["type"] == "watch":
            return  # there is no list here, and no queue
        known = [sent.get("id") for sent in self.received if sent["type"] == "ask"]
        self.received.append(frame)
        if self.deaf:
            return
        if frame["type"] == "open":
            self.open(viewer, frame["after"], frame.get("window", False))
        elif frame["type"] == "ask":
            if viewer not in self.viewers:
                self.open(viewer, 0)
            if frame["id"] not in known or not self.journal:
                self.begin(frame)
        elif frame["type"] == "stop":
            self.end("stopped")

    def open(self, viewer: WebSocketRoute, after: int, window: bool = False) -> None:
        turns = self.turns() if window else []
        if window:
            going = [event["seq"] for event in self.journal if event["run"] == self.run]
            after = going[0] - 1 if self.run else len(self.journal)
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
            **({"turns": turns, "before": None, "after": after} if window else {}),
        )
        for event in self.journal[after:]:
            if event["run"] not in self.hidden:
                self.tell(viewer, event)

    def turns(self) -> list[dict[str, Any]]:
        """The runs that are over, without those of other branches."""
        known = dict.fromkeys(event["run"] for event in self.journal)
        over = [run for run in known if run not in self.hidden and run != self.run]
        return [
            {"run": run, "at": at, "events": [one for one in self.journal if one["run"] == run]}
            for at, run in enumerate(over)
        ]

    def begin(self, ask: dict[str, Any]) -> None:
        self.run = str(uuid.uuid4())
        message = {
            "id": str(uuid.uuid4()),
            "role": "user",
            "text": ask["text"],
            "created_at": "2026-01-05T10:00:00+00:00",
        }
        if "again" in ask:
            added = [event for event in self.journal if event["type"] == "message.added"]
            asked = [event for event in added if event["message"]["id"] == ask["again"]]
            self.hidden |= {event["run"] for event in asked}
            message = asked[-1]["message"]
            self.say(type="branches.changed")
        if "continues" in ask:
            message |= {"text": "Go on.", "sender": {"kind": "continuation", "title": ""}}
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
        """Send an event as the server does: ids that the page knows are left out."""
        told = {name: value for name, value in event.items() if name != "conversation"}
        if self.told.get(viewer) == event["run"]:
            del told["run"]
        self.told[viewer] = event["run"]
        send(viewer, **told)

    def write(self, *texts: str) -> None:
        for text in texts:
            self.say(type="message.delta", text=text)

    def end(self, status: str = "done", **message: Any) -> None:
        """Store what was written as the answer, without what is None, and let the run be over."""
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
        told = {name: value for name, value in stored.items() if value is not None}
        self.say(type="message.complete", message=told)
        self.say(type="run.status", status=status)
        self.run = ""

    def refuse(self, text: str, code: str) -> None:
        send(self.everybody[-1], type="error", text=text, code=code)

    def cut(self) -> None:
        """End every connection, as a network does."""
        self.viewers.clear()
        self.close(3001)

    def close(self, code: int) -> None:
        self.everybody[-1].close(code=code, reason="")


def send(viewer: WebSocketRoute, **frame: Any) -> None:
    viewer.send(json.dumps(frame))
