"""Credentials that a server repeats, in an error about a wrong key for example, are hidden."""

import json
from collections.abc import Collection, Iterator
from urllib.parse import quote

SHORTEST = 6
"""Characters: a shorter text stands in many answers by chance, and is no secret anyway."""
SHOWN = "[hidden]"


def without_credentials(body: bytes, credentials: Collection[str]) -> bytes:
    for spelling in spellings(credentials):
        body = body.replace(spelling.encode(), SHOWN.encode())
    return body


def spellings(credentials: Collection[str]) -> list[str]:
    """How they can stand in an answer, the longest first: others may be a part of it."""
    return sorted({spelling for one in credentials for spelling in spelled(one)}, key=len)[::-1]


def spelled(credential: str) -> Iterator[str]:
    """Plain, in JSON, in an address."""
    if len(credential) >= SHORTEST:
        yield credential
        yield json.dumps(credential)[1:-1]
        yield quote(credential, safe="")
