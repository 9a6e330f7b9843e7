"""Claude Code completes a task in a folder, with an application of the site as its model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.upstream import Handler, result
from tests.sites.gateway import SLUG, Gateway, serve_gateway

COMMAND = Path(__file__).parent / "node_modules" / ".bin" / "claude"
pytestmark = pytest.mark.skipif(
    not COMMAND.exists(),
    reason="Claude Code tests skipped: make tests/judges/claude_code/node_modules/stamp",
)


class CommandHandler(Handler):
    """Writes a file with the client's tool, then reports the result."""

    def wish(self, body: dict[str, Any]) -> list[str]:
        names = [tool["function"]["name"] for tool in body.get("tools", ())]
        if "Bash" not in names or result(body) is not None:
            return ["done"]
        return ["call", "Bash", json.dumps({"command": "printf done > out.txt"})]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("claude"), CommandHandler) as served:
        yield served


def test_claude_code_runs_a_command_and_ends(gateway: Gateway, tmp_path: Path):
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()

    done = subprocess.run(
        [
            COMMAND,
            "-p",
            "make out.txt",
            "--model",
            SLUG,
            "--allowedTools",
            "Bash",
            "--output-format",
            "json",
        ],
        cwd=work,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": gateway.url,
            "ANTHROPIC_API_KEY": gateway.key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "out.txt").read_text() == "done"
    assert json.loads(done.stdout)["is_error"] is False
    asked = [body for body in gateway.upstream.asked if body.get("tools")]
    assert len(asked) == 2
