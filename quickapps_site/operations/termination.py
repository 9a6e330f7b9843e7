"""Raises an exception on SIGTERM, so that a command can remove unfinished files."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def termination_raises() -> Iterator[None]:
    """Raise SystemExit in the block on SIGTERM. This works only in the main thread."""
    previous = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
