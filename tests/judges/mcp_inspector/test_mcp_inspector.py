"""The command line of the MCP inspector lists and calls an application."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract import proves_feature
from tests.sites.gateway import SLUG, Gateway, serve_gateway

PROGRAMS = Path(__file__).parent / "node_modules" / ".bin"
pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "mcp-inspector").exists(),
    reason="MCP inspector tests skipped: make tests/judges/mcp_inspector/node_modules/stamp",
)

Inspect = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("inspector")) as served:
        yield served


@pytest.fixture
def inspect(gateway: Gateway, tmp_path: Path) -> Inspect:
    """Run the inspector with a method and its options."""

    def run(method: str, *options: str, path: str = "/mcp") -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [
            *(PROGRAMS / "node", PROGRAMS / "mcp-inspector", "--cli", f"{gateway.url}{path}"),
            *("--transport", "http", "--header", f"Authorization: Bearer {gateway.key}"),
            *("--method", method, *options),
        ]
        environment = os.environ | {"HOME": str(tmp_path)}
        return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)

    return run


def test_tools_are_listed_without_a_complaint_about_their_schemas(inspect: Inspect):
    done = inspect("tools/list", "--strict")

    assert (done.returncode, done.stderr) == (0, "")
    (tool,) = json.loads(done.stdout)["tools"]
    assert (tool["name"], tool["title"]) == (SLUG, "Echo")


@proves_feature("mcp", "text")
def test_the_application_is_called(inspect: Inspect):
    done = inspect("tools/call", "--tool-name", SLUG, "--tool-arg", "message=say hello")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["structuredContent"]["text"] == "say hello"


@proves_feature("mcp", "errors")
def test_a_failure_of_the_model_is_an_error_of_the_tool(inspect: Inspect):
    done = inspect("tools/call", "--tool-name", SLUG, "--tool-arg", "message=status 500")

    assert json.loads(done.stderr)["error"]["code"] == "tool_is_error"
    reported = json.loads(done.stdout)["_meta"]["quickapps/error"]
    assert reported == {"code": "upstream_500", "status": 500}


@proves_feature("mcp", "errors")
def test_an_application_that_the_key_cannot_use_is_not_found(inspect: Inspect):
    done = inspect("tools/list", path="/mcp/private")

    error = json.loads(done.stderr)["error"]
    assert error["status"] == 404
    assert "There is no application named 'private' that you may use." in error["message"]
