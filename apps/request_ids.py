"""Stores the ID of the current request, run or job. Each log line contains the ID."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

LONGEST_ID = 128
ACCEPTED = re.compile(rf"[A-Za-z0-9._:/+=@-]{{1,{LONGEST_ID}}}")

_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """Return the ID, or "" outside requests, runs and jobs."""
    return _current.get()


def accepted_or_new(sent: str) -> str:
    """Return the ID that a client sent if it is well-formed, otherwise a new ID."""
    return sent if ACCEPTED.fullmatch(sent) else uuid4().hex


def begin(request_id: str) -> None:
    """Use the ID in the rest of the current asyncio task."""
    _current.set(request_id)


@contextmanager
def use_request_id(request_id: str) -> Iterator[None]:
    """Use the ID inside the block, and in tasks that the block starts."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)
