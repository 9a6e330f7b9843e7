"""The site of `tests.sites.quick_site`, which reports its internal state.

It listens on the socket `watched` of its data directory. The response is one JSON object.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from tests.sites.quick_site import main

NAME = "watched"


def look() -> dict[str, Any]:
    """Return the running tasks by what they do, and the threads by name."""
    tasks = [one for one in gc.get_objects() if isinstance(one, asyncio.Task) and not one.done()]
    doing = Counter(getattr(task.get_coro(), "__qualname__", "") for task in tasks)
    return {"tasks": doing, "threads": len(threading.enumerate())}


def answer(listening: socket.socket) -> None:
    while True:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(json.dumps(look()).encode())


def ask(folder: Path) -> dict[str, Any]:
    """Return the report of the site whose data directory is that folder."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(str(folder / NAME))
        pieces = iter(lambda: asking.recv(65_536), b"")
        found: dict[str, Any] = json.loads(b"".join(pieces))
    return found


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(Path(os.environ["DATA_DIR"]) / NAME))
        listening.listen()
        threading.Thread(target=answer, args=(listening,), daemon=True).start()
        sys.exit(main())
