"""Stores the ID of the current request, run or job. Each log line contains it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

LONGEST_ID = 128
ACCEPTED = re.compile(rf"[A-Za-z0-9._:/+=@-]{{1,{LONGEST_ID}}}")

_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """Return the ID of the current request, run or job, or "" outside of them."""
    return _current.get()


def accepted_or_new(sent: str) -> str:
    """Return the ID that a client sent if it is well-formed, or else a new one."""
    return sent if ACCEPTED.fullmatch(sent) else uuid4().hex


def begin(request_id: str) -> None:
    """Set the ID for the rest of the current asyncio task."""
    _current.set(request_id)


@contextmanager
def use_request_id(request_id: str) -> Iterator[None]:
    """Set the ID inside the block, and for tasks that the block starts."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)
