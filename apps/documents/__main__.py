"""Read one document: a line of JSON and its bytes come in, one line of JSON goes out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from typing import Any

from apps.documents.problems import Unreadable

SOFT = 0.8
"""Of the time: then what there is so far is told, and that the rest is missing."""
MOST_OPEN_FILES = 64

Parts = Callable[[BytesIO, dict[str, Any]], Iterator[str]]
"""The text of a document, piece by piece. Raises `Unreadable`."""


def main() -> None:
    started = time.monotonic()
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limit(order["memory"], order["seconds"])
    text, problem = "", ""
    try:
        text = read(BytesIO(sys.stdin.buffer.read()), order, started + order["seconds"] * SOFT)
    except Unreadable as error:
        problem = str(error)
    except MemoryError:
        problem = f"it needs more than the {order['memory'] // 2**20:,} MB that are possible."
    except RecursionError:
        problem = "things are nested too deeply in it."
    except Exception as error:  # noqa: BLE001 - whatever the libraries raise on bad bytes
        problem = f"it is damaged, or no {order['title']} file ({type(error).__name__})."
    sys.stdout.write(json.dumps({"text": text, "problem": problem}))
    sys.stdout.flush()


def limit(memory: int, seconds: float) -> None:
    """For the rest of this process. Where the system has no such limits, the parent's clock holds."""
    try:
        import resource
    except ImportError:
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


def read(content: BytesIO, order: dict[str, Any], deadline: float) -> str:
    """As much of the text as there is time and room for; a last line tells when that is not all."""
    parts: Parts = import_module(f"apps.documents.{order['kind']}").parts
    found: list[str] = []
    room: int = order["characters"]
    for part in parts(content, order):
        found.append(part[:room])
        room -= len(part)
        if room < 0:
            found.append("[cut: the rest is left out, because the text is too long]")
            break
        if time.monotonic() > deadline:
            found.append("[cut: the rest may be left out, because reading took too long]")
            break
    return "\n".join(found)


if __name__ == "__main__":
    main()
