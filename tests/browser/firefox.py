"""An unmodified Firefox, driven through WebDriver BiDi.

https://www.w3.org/TR/webdriver-bidi/. Playwright only drives its own builds.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.suite.launched import LAUNCHED

PATIENCE = 60.0
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
ENTER = "\ue007"
"""WebDriver's code of the key."""


class FirefoxPage:
    """One tab. `problems` are the errors of its scripts."""

    def __init__(self, socket: Connection) -> None:
        self.socket = socket
        self.numbers = itertools.count(1)
        self.problems: list[str] = []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]

    def send(self, method: str, **params: Any) -> Any:
        """Send a command. Raises `AssertionError` with the browser's error."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self.socket.recv(PATIENCE))
            if told.get("method") == "log.entryAdded":
                self.note(told["params"])
            if told.get("id") == number:
                assert told["type"] == "success", told
                return told["result"]

    def note(self, entry: dict[str, Any]) -> None:
        if entry["type"] == "javascript" or entry["level"] == "error":
            self.problems.append(entry["text"])

    def goto(self, url: str) -> None:
        self.send("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def reload(self) -> None:
        self.send("browsingContext.reload", context=self.context, wait="complete")

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self.send("browsingContext.setViewport", context=self.context, viewport=size)

    def evaluate(self, expression: str) -> Any:
        """Return the value as JSON. Raises `AssertionError` with the script's exception."""
        found = self.send(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})) ?? 'null')()",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])

    def wait_for(self, expression: str) -> Any:
        """Return the value once it is true."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < deadline, (
                f"{expression}\n{self.evaluate('document.body.innerText')}"
            )
        return value

    def press(self, keys: str) -> None:
        """Press each key in the focused element."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.send("input.performActions", context=self.context, actions=[source])

    def click(self, selector: str) -> None:
        """Click the middle of the first matching element with the mouse."""
        place = self.wait_for(
            f"""(() => {{
              const found = document.querySelector({json.dumps(selector)});
              found?.scrollIntoView({{ block: "center" }});
              const box = found?.getBoundingClientRect();
              return box?.width && {{ x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) }};
            }})()"""
        )
        pointer = [
            {"type": "pointerMove", **place},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        source = {"type": "pointer", "id": "mouse", "actions": pointer}
        self.send("input.performActions", context=self.context, actions=[source])


@contextmanager
def firefox(path: str, folder: Path) -> Iterator[FirefoxPage]:
    """Yield a tab of a separate Firefox whose profile is in the folder."""
    log = folder / "firefox.log"
    profile = folder / "profile"
    profile.mkdir()
    command = [path, "--headless", "--no-remote", "--profile", str(profile)]
    LAUNCHED["Firefox"] += 1
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--remote-debugging-port=0"], stdout=output, stderr=output
        )
    try:
        address = wait_for_address(process, log)
        with connect(f"{address}/session", max_size=None) as socket:
            yield FirefoxPage(socket)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for_address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if found := LISTENING.search(log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"Firefox did not start:\n{log.read_text(errors='replace')}")
