"""Services that repeat what they were sent: in errors about a wrong key, or to help finding one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from urllib.parse import quote

from apps.capabilities.rest.exchanges import Answer

SHORTEST = 6
"""Characters: what is shorter stands in many answers by chance, and is no secret anyway."""
SHOWN = b"[hidden]"


def without_credentials(answer: Answer, credentials: Collection[str]) -> Answer:
    """The answer as the model and the stage may have it."""
    body = answer.body
    for spelling in {one for credential in credentials for one in spellings(credential)}:
        body = body.replace(spelling, SHOWN)
    return replace(answer, body=body) if body is not answer.body else answer


def spellings(credential: str) -> Iterator[bytes]:
    """How a text can stand in an answer: as it is, in JSON, in an address."""
    if len(credential) >= SHORTEST:
        yield credential.encode()
        yield json.dumps(credential)[1:-1].encode()
        yield quote(credential, safe="").encode()
