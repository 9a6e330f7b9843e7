"""State that comes back as it went.

DIAL's SDK puts the chunks of a stream together by the key `index`, in a state as well: lists are
sorted by it, gaps in it are filled, and in the end it is taken away. What has that key therefore
travels as text.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec

logger = logging.getLogger(__name__)

SEALED = "sealed"
INDEX = "index"
KEY = b'"index":'


def seal(state: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that have an `index` somewhere become one text."""
    if KEY not in msgspec.json.encode(state):  # nearly always; and sooner known than by looking
        return dict(state)
    exposed = {name: value for name, value in state.items() if has_index(value)}
    if not exposed:
        return dict(state)
    rest = {name: value for name, value in state.items() if name not in exposed}
    return {**rest, SEALED: msgspec.json.encode(exposed).decode()}


def unseal(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """What cannot be read is left out: it came from a client."""
    if SEALED not in state:
        return state
    rest = {name: value for name, value in state.items() if name != SEALED}
    try:
        exposed = msgspec.json.decode(state[SEALED])
    except (msgspec.DecodeError, TypeError, UnicodeError, RecursionError):
        exposed = None
    if not isinstance(exposed, Mapping):
        logger.warning("A state came back with a part that cannot be read; it is left out.")
        return rest
    return {**rest, **exposed}


def has_index(value: Any) -> bool:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            if INDEX in found:
                return True
            waiting += found.values()
        elif isinstance(found, (list, tuple)):
            waiting += found
    return False
