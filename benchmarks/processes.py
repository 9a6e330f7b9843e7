"""Server processes, each started on one core and measured by the kernel's clocks."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.sites.fork_server import Fork

START_SECONDS = 60.0


@dataclass
class Process:
    process: subprocess.Popen[bytes] | Fork
    port: int

    def cpu(self) -> float:
        """Return the CPU seconds, user and system, of all threads."""
        clock = (~self.process.pid << 3) | 2  # Linux's number of the CPU clock of a process
        return time.clock_gettime(clock)

    def memory(self) -> int:
        """Return the bytes that belong to this process alone (USS)."""
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return 1024 * sum(
            int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", text, re.MULTILINE)
        )

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(START_SECONDS)


def start(
    arguments: Sequence[str],
    *,
    port: int,
    core: int,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Process:
    """Start Python with these arguments on a core. Return when the server listens."""
    process = subprocess.Popen(
        [python, *arguments],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return Process(process, port)
    process.kill()
    raise RuntimeError(f"It did not start: {' '.join(arguments)}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
