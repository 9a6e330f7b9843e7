"""LangChain asks an application over Anthropic Messages, and calls it over MCP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves_feature
from tests.sites.gateway import CLOCK, SLUG, Gateway, serve_gateway

FOLDER = Path(__file__).parent
PYTHON = FOLDER.parents[2] / ".venv-judges" / "langchain" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="LangChain tests skipped: make .venv-judges/langchain/stamp"
)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("langchain")) as served:
        yield served


def run(script: str, *arguments: str) -> Any:
    command: list[str | Path] = [PYTHON, FOLDER / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@proves_feature("messages", "text", "client tools", "usage")
def test_a_chat_model_of_langchain_asks_over_messages(gateway: Gateway):
    told = run("ask_messages.py", gateway.url, gateway.key, SLUG, "say hello")

    assert told == {
        "text": "say hello",
        "total": 7,
        "streamed": ["say", " hello"],
        "call": ["look", {}],
        "called": "It brought rain",
    }


@proves_feature("messages", "errors")
def test_langchain_reports_an_application_that_the_key_cannot_use(gateway: Gateway):
    told = run("ask_messages.py", gateway.url, gateway.key, "private", "say hello")

    assert told == {"error": [404, "not_found_error"]}


@proves_feature("mcp", "text", "tools")
@pytest.mark.parametrize(
    ("said", "answer"), [("say hello", "say hello"), (f"call {CLOCK} {{}}", "It brought")]
)
def test_the_mcp_adapters_of_langchain_call_the_application(gateway: Gateway, said, answer):
    told = run("call_mcp.py", f"{gateway.url}/mcp/{SLUG}", gateway.key, said)

    assert (told["tools"], told["status"]) == ([[SLUG, "Echo"]], "success")
    assert told["content"][0]["text"].startswith(answer)


@proves_feature("mcp", "errors")
def test_a_failure_of_the_model_is_a_failed_call_of_langchains_tool(gateway: Gateway):
    told = run("call_mcp.py", f"{gateway.url}/mcp/{SLUG}", gateway.key, "status 500")

    assert told["status"] == "error"
