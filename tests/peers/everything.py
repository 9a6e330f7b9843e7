"""The reference server of the MCP project, in Node: it has one of everything."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = HERE / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE = shutil.which("node") or ""


def install() -> None:
    """What `make test` does beforehand; once for a checkout."""
    if not SCRIPT.exists():
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=HERE, check=True, capture_output=True, timeout=110)


@contextmanager
def serve_everything() -> Iterator[str]:
    """Over streamable HTTP; its address."""
    command = [NODE, "--require", str(HERE / "loopback.cjs"), str(SCRIPT), "streamableHttp"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        port = next(line.split()[1] for line in process.stdout if line.startswith("port "))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.communicate()
