"""The current resources of a process, as reported by the system."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def stat_of(pid: int) -> list[str]:
    """Return the fields after its name: state, parent and so on; none if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    """Return its running child processes."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        fields = stat_of(int(entry.name))
        if fields and int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def is_running(pid: int) -> bool:
    fields = stat_of(pid)
    return bool(fields) and fields[0] != "Z"


def memory(name: str, pid: int | str = "self") -> int:
    """Return its memory in bytes: `VmRSS` is the current use, `VmHWM` the maximum."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(found) * 1024


def memory_in_use() -> int:
    return memory("VmRSS")


def cpu_seconds(pid: int) -> float:
    """Return its CPU time, or 0.0 if it has ended."""
    fields = stat_of(pid)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def connections(pid: int) -> int:
    """Return the number of its open sockets."""
    return sum(is_socket(entry) for entry in Path(f"/proc/{pid}/fd").iterdir())


def is_socket(entry: Path) -> bool:
    try:
        return str(entry.readlink()).startswith("socket:")
    except OSError:
        return False


def until(seconds: float, look: Callable[[], T]) -> T:
    """Check the system until the result is true or the time is over."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.01)
    return found
