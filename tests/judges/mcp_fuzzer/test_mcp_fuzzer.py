"""`mcp-fuzzer` sends malformed arguments and requests to the server."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.sites.gateway import serve_gateway

COMMAND = Path(__file__).parents[3] / ".venv-judges" / "mcp_fuzzer" / "bin" / "mcp-fuzzer"
pytestmark = pytest.mark.skipif(
    not COMMAND.exists(), reason="MCP fuzzer test skipped: make .venv-judges/mcp_fuzzer/stamp"
)


def test_malformed_requests_cause_neither_a_server_error_nor_a_traceback(tmp_path: Path):
    with serve_gateway(tmp_path) as gateway:
        key = {"type": "api_key", "api_key": gateway.key, "header_name": "Authorization"}
        sign_in = tmp_path / "key.json"
        sign_in.write_text(json.dumps({"providers": {"key": key}, "default_provider": "key"}))
        done = subprocess.run(
            [
                *(COMMAND, "--mode", "all", "--phase", "both", "--protocol-phase", "aggressive"),
                *("--protocol", "streamablehttp", "--endpoint", f"{gateway.url}/mcp"),
                *("--runs", "10", "--runs-per-type", "3", "--seed", "1", "--no-corpus"),
                *("--no-network", "--fail-if-no-tools", "--auth-config", sign_in),
                *("--fs-root", tmp_path / "sandbox", "--output-dir", tmp_path / "report"),
                *("--log-level", "INFO"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        log = gateway.site.log.read_text()

    assert done.returncode == 0, done.stderr
    statuses = {int(status) for status in re.findall(r'"HTTP/1\.1 (\d+) ', done.stderr)}
    assert 200 in statuses
    assert [status for status in statuses if status >= 500] == []
    assert "Traceback" not in log
