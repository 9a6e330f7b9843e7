"""FastMCP's client calls an application over MCP, and OpenAI's Agents SDK over Responses."""

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
PYTHON = FOLDER.parents[2] / ".venv-judges" / "python_clients" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="Tests of Python clients skipped: make .venv-judges/python_clients/stamp",
)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("python")) as served:
        yield served


def run(script: str, *arguments: str) -> Any:
    command: list[str | Path] = [PYTHON, FOLDER / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@proves_feature("mcp", "text", "tools")
@pytest.mark.parametrize("path", ["/mcp", f"/mcp/{SLUG}"])
def test_the_client_of_fastmcp_calls_the_application(gateway: Gateway, path: str):
    url = f"{gateway.url}{path}"

    said = run("call_mcp.py", url, gateway.key, SLUG, "say hello")
    called = run("call_mcp.py", url, gateway.key, SLUG, f"call {CLOCK} {{}}")

    assert said["tools"] == [[SLUG, "Echo"]]
    assert (said["texts"][0], said["is_error"]) == ("say hello", False)
    assert said["structured"]["text"] == "say hello"
    assert called["structured"]["text"].startswith("It brought")


@proves_feature("mcp", "errors")
def test_fastmcp_reports_an_application_that_the_key_cannot_use(gateway: Gateway):
    told = run("call_mcp.py", f"{gateway.url}/mcp", gateway.key, "private", "say hello")

    assert told == {"tools": [[SLUG, "Echo"]], "error": "Unknown tool: 'private'."}


@proves_feature("responses", "text", "client tools", "usage")
def test_an_agent_of_the_agents_sdk_has_the_application_as_its_model(gateway: Gateway):
    told = run("ask_responses.py", f"{gateway.url}/v1", gateway.key, SLUG, "say hello")

    assert told == {
        "text": "say hello",
        "total": 7,
        "called": "It brought rain",
        "deltas": ["It", " brought", " rain"],
        "more": "say more",
    }


@proves_feature("responses", "errors")
def test_the_agents_sdk_reports_an_application_that_the_key_cannot_use(gateway: Gateway):
    told = run("ask_responses.py", f"{gateway.url}/v1", gateway.key, "private", "say hello")

    message = "Error code: 404 - There is no application named 'private' that you may use."
    assert told == {"error": [404, message]}
