"""The peak memory of a process, as Linux reports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MEBIBYTE = 2**20
PROC = Path("/proc")


@contextmanager
def most_more(pid: int) -> Iterator[list[int]]:
    """Yield a list that contains the peak growth of the process in bytes after the block."""
    if not (PROC / str(pid) / "clear_refs").exists():
        pytest.skip("Only Linux reports the peak memory of a process.")
    (PROC / str(pid) / "clear_refs").write_text("5")
    grown: list[int] = []
    before = status(pid, "VmRSS")
    yield grown
    grown.append(status(pid, "VmHWM") - before)


def status(pid: int, name: str) -> int:
    lines = (PROC / str(pid) / "status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024
