"""Codex completes a task in a folder, with an application of the site as its model."""

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

COMMAND = Path(__file__).parent / "node_modules" / ".bin" / "codex"
pytestmark = pytest.mark.skipif(
    not COMMAND.exists(),
    reason="Codex tests skipped: make tests/judges/codex/node_modules/stamp",
)
CONFIGURATION = """
model = "{slug}"
model_provider = "quickapps"
check_for_update_on_startup = false
[model_providers.quickapps]
name = "QuickApps"
base_url = "{url}/v1"
env_key = "QUICKAPPS_KEY"
wire_api = "responses"
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"
"""


class CommandHandler(Handler):
    """Writes a file with the client's tool, then reports the result."""

    def wish(self, body: dict[str, Any]) -> list[str]:
        names = [tool["function"]["name"] for tool in body.get("tools", ())]
        if "exec_command" not in names or result(body) is not None:
            return super().wish(body)
        return ["call", "exec_command", json.dumps({"cmd": "printf done > out.txt"})]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("codex"), CommandHandler) as served:
        yield served


def test_codex_runs_a_command_and_ends(gateway: Gateway, tmp_path: Path):
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    (home / ".codex").mkdir(parents=True)
    written = CONFIGURATION.format(slug=SLUG, url=gateway.url)
    (home / ".codex" / "config.toml").write_text(written)
    options = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json")

    done = subprocess.run(
        [COMMAND, "exec", *options, "make out.txt"],
        cwd=work,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "QUICKAPPS_KEY": gateway.key},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "out.txt").read_text() == "done"
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert events[-1]["type"] == "turn.completed"
    turns = [body for body in gateway.upstream.asked if "exec_command" in json.dumps(body["tools"])]
    assert len(turns) == 2
