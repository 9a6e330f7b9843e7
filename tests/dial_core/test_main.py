"""Core alone in a process, with its example configuration."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.dial_core import Core
from tests.dial_core.__main__ import usable_port

EXAMPLE = Path(__file__).with_name("example.json")
COMMAND = [sys.executable, "-m", "tests.dial_core", "--port", "0", "--config", str(EXAMPLE)]
TOOL = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def alone() -> Iterator[httpx.Client]:
    with running() as client:
        yield client


@contextmanager
def running(*options: str) -> Iterator[httpx.Client]:
    root, command = EXAMPLE.parent.parent.parent, [*COMMAND, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        with httpx.Client(base_url=url, headers={"Api-Key": "dial-demo-key"}, timeout=60) as client:
            yield client
        process.terminate()
        assert process.wait(60) == 0


def test_the_example_has_models_and_two_applications(alone: httpx.Client):
    assert [one["id"] for one in alone.get("/v1/deployments").json()] == [
        "scripted",
        "echo",
        "clock_helper",
        "demo",
    ]
    assert alone.base_url.host == "127.0.0.1"


def test_it_calls_the_site_where_that_is():
    asked: list[str] = []

    class Site(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path.partition("?")[0])
            self.send_response(400)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *given: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        with running("--site-url", f"http://127.0.0.1:{site.server_port}/") as client:
            body = {"messages": [{"role": "user", "content": "Hi"}]}
            answer = client.post("/openai/deployments/demo/chat/completions", json=body)
        site.shutdown()

    assert (answer.status_code, asked) == (400, ["/openai/deployments/demo/chat/completions"])


def test_a_port_that_is_taken_is_replaced_by_a_free_one():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]

        assert usable_port(number) not in (0, number)
    assert usable_port(number) == number


def test_its_model_calls_a_tool_and_then_says_so(alone: httpx.Client):
    def ask(*messages: dict[str, Any]) -> dict[str, Any]:
        body = {"messages": messages, "tools": [TOOL]}
        reply = alone.post("/openai/deployments/scripted/chat/completions", json=body)
        found: dict[str, Any] = reply.json()["choices"][0]["message"]
        return found

    question = {"role": "user", "content": "What time is it?"}
    called = ask(question)
    assert json.dumps(called["tool_calls"]).count('"name": "clock"') == 1
    id = called["tool_calls"][0]["id"]
    result = {"role": "tool", "tool_call_id": id, "content": "12"}
    assert ask(question, called, result)["content"] == (
        "The tool has answered. That is all there is to say."
    )


def test_the_manifest_is_the_applications_alone():
    core = Core(json.loads(EXAMPLE.read_text()))

    (helper,) = (one for one in core.configuration.deployments.values() if one.schema is not None)

    assert helper.id == "clock_helper"
    assert sorted(helper.properties_for(frozenset({"client"}))) == ["conversation_starters"]
