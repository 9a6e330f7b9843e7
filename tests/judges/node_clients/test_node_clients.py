"""Clients for Node.js call an application over MCP, A2A and Responses."""

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
NODE = FOLDER / "node_modules" / ".bin" / "node"
pytestmark = pytest.mark.skipif(
    not NODE.exists(),
    reason="Tests of Node.js clients skipped: make tests/judges/node_clients/node_modules/stamp",
)
COMPLETED = 3
"""The number of `TASK_STATE_COMPLETED` in the protocol's definition."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("node")) as served:
        yield served


def run(script: str, *arguments: str) -> Any:
    command: list[str | Path] = [NODE, FOLDER / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@proves_feature("mcp", "text", "tools")
@pytest.mark.parametrize(
    ("said", "answer"), [("say hello", "say hello"), (f"call {CLOCK} {{}}", "It brought")]
)
def test_the_mcp_client_of_the_ai_sdk_calls_the_application(gateway: Gateway, said, answer):
    told = run("mcp.mjs", f"{gateway.url}/mcp/{SLUG}", gateway.key, said)

    assert (told["name"], told["description"]) == (SLUG, "Echo")
    assert told["result"]["structuredContent"]["text"].startswith(answer)


@proves_feature("a2a", "text", "tools")
@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON"])
def test_the_official_a2a_client_streams_the_tasks_of_a_context(gateway: Gateway, transport: str):
    url = f"{gateway.url}/a2a/{SLUG}"

    told = run("a2a.mjs", url, gateway.key, transport, "say hello", f"call {CLOCK} {{}}")

    assert [one["state"] for one in told] == [COMPLETED, COMPLETED]
    assert told[0]["text"] == "say hello"
    assert told[1]["text"].startswith("It brought")
    assert {"task", "artifactUpdate", "statusUpdate"} == set(told[0]["kinds"])


@proves_feature("responses", "text", "client tools", "usage")
def test_the_clients_of_openai_and_the_ai_sdk_ask_over_responses(gateway: Gateway):
    told = run("responses.mjs", f"{gateway.url}/v1", gateway.key, SLUG, "say hello")

    assert told == {
        "openai": {"text": "say hello", "more": "say more", "total": 7},
        "aiSdk": {"text": "say hello", "results": ["rain"], "last": "It brought rain"},
    }
