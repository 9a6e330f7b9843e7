"""Reads one document in a separate process. The process reads a line of JSON and the document's
bytes from stdin, and writes a line of JSON to stdout.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from io import BytesIO
from typing import Any, Literal

from apps.documents.paged_text import PagePart, UnreadableDocument

SOFT = 0.8
"""The fraction of the time limit after which the process returns the text that it has read so far,
marked as truncated.
"""
MOST_OPEN_FILES = 64

Parts = Callable[[BytesIO, dict[str, Any]], Iterator[PagePart]]
"""A function that yields a document's text in parts. It raises `UnreadableDocument` if the document
cannot be read.
"""


@dataclass
class Result:
    """The parts of the document that were read."""

    parts: list[PagePart] = field(default_factory=list)
    problem: str = ""
    """The reason why the document cannot be read, or ""."""
    cut: Literal["", "room", "time"] = ""
    """The limit at which reading stopped, or ""."""


def main() -> None:
    started = time.monotonic()
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limit(order["memory"], order["seconds"])
    result = Result()
    try:
        content = BytesIO(sys.stdin.buffer.read())
        read(content, order, started + order["seconds"] * SOFT, result)
    except UnreadableDocument as error:
        result.problem = str(error)
    except MemoryError:
        result.problem = f"it needs too much memory; the limit is {order['memory'] // 2**20:,} MB."
    except RecursionError:
        result.problem = "it is nested too deeply."
    except Exception as error:  # noqa: BLE001 - whatever the libraries raise on bad bytes
        result.problem = (
            f"it is damaged or not a valid {order['title']} file ({type(error).__name__})."
        )
    sys.stdout.write(json.dumps({"total": order.get("total", 0), **asdict(result)}))
    sys.stdout.flush()


def limit(memory: int, seconds: float) -> None:
    """Limit this process's memory in bytes, its CPU time and its number of open files, and prevent
    it from writing files. On Windows, which has no such limits, only the parent's timer applies.
    """
    try:
        import resource
    except ImportError:  # This is the case on Windows.
        return
    whole = int(seconds) + 1
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, whole),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, MOST_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def read(content: BytesIO, order: dict[str, Any], deadline: float, result: Result) -> None:
    """Add the document's parts to `result`, until the document ends, the monotonic clock reaches
    `deadline`, or the text reaches the limit on characters. Raises `UnreadableDocument` if the
    document cannot be read.
    """
    parts: Parts = import_module(f"apps.documents.{order['kind']}").parts
    room: int = order["characters"]
    for part in parts(content, order):
        result.parts.append(part.shortened(room))
        room -= len(part.marked) + 1
        if room < 0:
            result.cut = "room"
            break
        if time.monotonic() > deadline:
            result.cut = "time"
            break


if __name__ == "__main__":
    main()
