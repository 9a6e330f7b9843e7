"""Read one document: a line of JSON and its bytes come in, one line of JSON goes out."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from io import BytesIO
from typing import Any, Literal

from apps.documents.pages import Part, Unreadable

SOFT = 0.8
"""Share of the time after which the text so far is returned as cut."""
MOST_OPEN_FILES = 64

Parts = Callable[[BytesIO, dict[str, Any]], Iterator[Part]]
"""The text of a document, piece by piece. Raises `Unreadable`."""


@dataclass
class Result:
    """`cut`: why there may be more parts."""

    parts: list[Part] = field(default_factory=list)
    problem: str = ""
    cut: Literal["", "room", "time"] = ""


def main() -> None:
    started = time.monotonic()
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limit(order["memory"], order["seconds"])
    result = Result()
    try:
        content = BytesIO(sys.stdin.buffer.read())
        read(content, order, started + order["seconds"] * SOFT, result)
    except Unreadable as error:
        result.problem = str(error)
    except MemoryError:
        result.problem = (
            f"it needs more than the {order['memory'] // 2**20:,} MB that are possible."
        )
    except RecursionError:
        result.problem = "things are nested too deeply in it."
    except Exception as error:  # noqa: BLE001 - whatever the libraries raise on bad bytes
        result.problem = f"it is damaged, or no {order['title']} file ({type(error).__name__})."
    sys.stdout.write(json.dumps({"total": order.get("total", 0), **asdict(result)}))
    sys.stdout.flush()


def limit(memory: int, seconds: float) -> None:
    """Limit this process. Where the system cannot, the parent's clock alone does."""
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


def read(content: BytesIO, order: dict[str, Any], deadline: float, result: Result) -> None:
    """Read as much of the text as there is time and room for. Raises `Unreadable`."""
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
