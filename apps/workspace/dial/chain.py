"""Which of our applications a request stands below, also when Core is between them.

Core forwards a request's headers to the applications that it calls, so a run tells the next one by
a header. Whoever writes it by hand is refused the applications that it names, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote

from apps.errors import CallsItself

HEADER = "X-QUICKAPPS-CHAIN"
LONGEST = 20
"""Applications below each other that are told; a longer row is no honest one."""


def read_chain(headers: Mapping[str, str]) -> tuple[str, ...]:
    for name, value in headers.items():
        if name.upper() == HEADER and value:
            return tuple(unquote(item) for item in value.split(",")[:LONGEST])
    return ()


def write_chain(chain: tuple[str, ...]) -> dict[str, str]:
    if not chain:
        return {}
    return {HEADER: ",".join(quote(item, safe="") for item in chain[-LONGEST:])}


def check_chain(chain: tuple[str, ...], deployment_id: str) -> None:
    """Raises `CallsItself` for an application that is at work already."""
    if unquote(deployment_id) in map(unquote, chain):
        raise CallsItself(
            (*chain, deployment_id), "An application cannot be called inside of itself"
        )
