"""The reference server of the MCP project, in Node, which has every feature."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = HERE / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE = shutil.which("node") or ""


def install() -> None:
    """Install it once per checkout, as `make test` does."""
    if not SCRIPT.exists():
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=HERE, check=True, capture_output=True, timeout=110)


class Everything:
    """The server over streamable HTTP, which can be killed and restarted at its address."""

    def __init__(self) -> None:
        self.port = "0"
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        command = [NODE, "--require", str(HERE / "loopback.cjs"), str(SCRIPT), "streamableHttp"]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, "LOOPBACK_PORT": self.port},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        told = (line for line in self.process.stdout if line.startswith("port "))
        self.port = next(told).split()[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def running_everything() -> Iterator[Everything]:
    server = Everything()
    try:
        yield server
    finally:
        server.kill()
