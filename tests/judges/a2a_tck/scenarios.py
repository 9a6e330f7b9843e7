"""A model that plays the kit's scenarios, and a relay that shows it the ids of messages.

The kit selects the behavior of an agent by the prefix of `messageId`, which our models do not
read, and it sends no key. The relay adds both: the id as another text of the message, and the key.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from tests.peers.upstream import Handler
from tests.servers.http import serving

QUESTION_TOOL = "internal_ask_question"
QUESTION = {"question": "What now?", "input_type": "text", "options": [], "allow_freeform": True}
ATTACHED: Mapping[str, dict[str, str]] = {
    "artifact-file-url": {
        "type": "text/plain",
        "title": "output.txt",
        "url": "https://example.com/output.txt",
    },
    "artifact-file": {"type": "text/plain", "title": "output.txt", "data": "written"},
    "artifact-data": {
        "type": "application/json",
        "title": "data.json",
        "data": '{"key": "value", "count": 42}',
    },
}
SAID: Mapping[str, list[str]] = {
    "artifact-text": ["Generated text content"],
    "stream-artifact-text": ["Streamed text content"],
    "stream-artifact-chunked": ["chunk-1 ", "chunk-2"],
}
LONG_SECONDS = 4.0
_ids = re.compile(r"(?:tck|test)-([a-z0-9-]+)")


class ScenarioHandler(Handler):
    """Answers according to the newest id in the conversation."""

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.upstream.asked.append(body)
        scenario = scenario_of(body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        if scenario.startswith("input-required"):
            call = {"index": 0, "id": f"call-{len(self.upstream.asked)}", "type": "function"}
            function = {"name": QUESTION_TOOL, "arguments": json.dumps(QUESTION)}
            self.say({"tool_calls": [{**call, "function": function}]})
            self.finish_answer("tool_calls")
            return
        if scenario.startswith("resubscribe"):
            time.sleep(LONG_SECONDS)
        for name in sorted(ATTACHED, key=len, reverse=True):
            if scenario.removeprefix("stream-").startswith(name):
                self.say({"custom_content": {"attachments": [ATTACHED[name]]}})
                self.finish_answer("stop")
                return
        said = [words for name, words in SAID.items() if scenario.startswith(name)]
        for word in said[0] if said else ["Hello from TCK"]:
            self.say({"content": word})
        self.finish_answer("stop")


def scenario_of(body: Mapping[str, Any]) -> str:
    """Return the newest id without its first word, or ""."""
    texts = [json.dumps(message.get("content")) for message in body["messages"]]
    found = [id for text in texts for id in _ids.findall(text)]
    return found[-1] if found else ""


@dataclass
class RelayTarget:
    """`url` and `key` are set once the site is served."""

    url: str = ""
    key: str = ""


class Relay(BaseHTTPRequestHandler):
    target: RelayTarget

    def relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        address = urlsplit(self.target.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        dropped = {"host", "content-length", "connection", "accept-encoding"}
        headers = {k: v for k, v in self.headers.items() if k.lower() not in dropped}
        headers["Api-Key"] = self.target.key
        connection.request(self.command, self.path, with_id(body), headers)
        answer = connection.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"transfer-encoding", "connection", "date", "server"}:
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        while piece := answer.read1(65_536):
            self.wfile.write(piece)
            self.wfile.flush()
        connection.close()

    do_GET = do_POST = do_DELETE = relay  # noqa: N815 - the library's names


def with_id(body: bytes) -> bytes:
    """Return the request with the id of its message as another text."""
    try:
        sent = json.loads(body)
        message = sent["params"]["message"] if "params" in sent else sent["message"]
        message["parts"].append({"text": message["messageId"]})
    except (ValueError, KeyError, TypeError, AttributeError):
        return body
    return json.dumps(sent).encode()


@contextmanager
def serve_relay(target: RelayTarget) -> Iterator[str]:
    with serving(type("BoundRelay", (Relay,), {"target": target})) as url:
        yield url
