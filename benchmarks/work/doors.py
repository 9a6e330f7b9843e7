"""The doors whose work is counted, and the requests of their clients."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.systems import shipped

TOOL = "internal_timeawareness_current_timestamp"
UPSTREAM = "upstream"
"""A placeholder in settings for the address of the fake model's service."""
PAGE = "page"
RATES = "completions, rates in Redis"
DIAL_KEY = "0123456789abcdefghijABCDEFGHIJ-_"


def user_message(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def run_input(text: str) -> dict[str, Any]:
    message = {"id": "1", "role": "user", "content": text}
    empty: dict[str, Any] = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return {"threadId": "1", "runId": "1", "messages": [message], **empty}


@dataclass(frozen=True)
class Door:
    """A door. `body` returns the fields of a request with a text. If `key` is set, it replaces the
    site's key."""

    name: str
    path: str
    body: Callable[[str], dict[str, Any]] = user_message
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def request(self, key: str, tokens: int, tool: str = "") -> bytes:
        """Return a request for an answer with that many tokens, optionally after a tool call."""
        text = f"tokens={tokens} delay_ms=0 first_ms=0 tool={tool}"
        body = json.dumps({"model": shipped.SLUG, "stream": True, **self.body(text)}).encode()
        headers = {
            "Host": "127.0.0.1",
            "Content-Type": "application/json",
            "Api-Key": self.key or key,
            "Content-Length": str(len(body)),
            **self.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"POST {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + body


@dataclass(frozen=True)
class PageDoor(Door):
    """The chat page, whose tab sends questions as frames."""

    def request(self, key: str, tokens: int, tool: str = "") -> bytes:
        text = f"tokens={tokens} delay_ms=0 first_ms=0 tool={tool}"
        return json.dumps({"type": "ask", "text": text, "conversation": None}).encode()


REDIS: Mapping[str, str] = {
    "REDIS_URL": os.environ.get("TEST_REDIS_URL", ""),
    "KEY_REQUESTS_PER_MINUTE": "1000000",
    "KEY_TOKENS_PER_MINUTE": "1000000000",
}
"""The settings of a process that shares rates with other processes."""
COMPLETIONS = f"/openai/deployments/{shipped.SLUG}/chat/completions"
DOORS = (
    Door("completions", COMPLETIONS),
    Door(
        "behind DIAL Core",
        "/openai/deployments/quick_apps2/chat/completions",
        headers={"X-DIAL-APPLICATION-ID": "kept"},
        key=DIAL_KEY,
        settings={"DIAL_URL": UPSTREAM},
    ),
    # A timer writes stored responses, so their statements cannot be counted.
    Door("responses", "/v1/responses", lambda text: {"input": text, "store": False}),
    Door("messages", "/v1/messages", lambda text: {**user_message(text), "max_tokens": 1000}),
    Door("ag-ui", f"/ag-ui/{shipped.SLUG}", run_input),
    Door(RATES, COMPLETIONS, settings=REDIS),
)
# A title would be a second call of the model, at any time.
PAGE_DOOR = PageDoor(PAGE, "", settings={"RUNS_PER_PERSON": "0", "CONVERSATION_TITLES": "question"})
"""The page, which `benchmarks.work --page` counts as well. It has no budget yet."""
