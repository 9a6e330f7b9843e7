"""Handles events that are not one JSON object: keep-alive texts, and several events in one."""

import json
import logging
import re
from functools import lru_cache

from apps.process_state import on_reset
from apps.workspace.services.halves import decode_leniently

logger = logging.getLogger(__name__)

_prefix = re.compile(rb"(?:\xef\xbb\xbf|\s|data:)*+")
"""Matches a byte order mark or the field name, which some services send before their JSON."""

KEEP_ALIVES = frozenset(
    {
        b"",
        b"ping",
        b"pong",
        b"keepalive",
        b"heartbeat",
        b"hb",
        b"null",
        b"processing",
        b"true",
        b"ok",
    }
)
"""The texts of keep-alive events, ignoring case, spaces and punctuation."""


def events_in(payload: bytes) -> list[bytes]:
    """Return the members of a list, or the lines of an event without blank lines; otherwise the
    event itself.
    """
    payload = _prefix.sub(b"", payload, count=1)
    try:
        found = decode_leniently(payload)
    except (ValueError, RecursionError):
        lines = [line for line in payload.split(b"\n") if line.strip()]
        return [payload] if len(lines) < 2 else [one for line in lines for one in events_in(line)]
    if isinstance(found, list):
        return [
            item.encode(errors="replace") if isinstance(item, str) else json.dumps(item).encode()
            for item in found
        ]
    return [found.encode(errors="replace")] if isinstance(found, str) else [payload]


def is_skipped(event: bytes, *, has_begun: bool) -> bool:
    """Return True if an event is a keep-alive. Before the answer has begun, any text counts as one."""
    if b"{" in event or b"[" in event:
        return False
    if is_keep_alive(event):
        return True
    if not has_begun:
        log_skipped(len(event))
    return not has_begun


def is_keep_alive(event: bytes) -> bool:
    return event.strip(b' \t\n":.!').lower().translate(None, b"-_ ") in KEEP_ALIVES


@lru_cache(maxsize=256)  # A process logs each length once.
def log_skipped(length: int) -> None:
    logger.warning(
        "A model's service sent an event of %d bytes that is not a JSON object; it is skipped.",
        length,
    )


on_reset(log_skipped.cache_clear)
