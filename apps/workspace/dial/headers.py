"""The headers that tell Core of the caller, and those that go along to deployments."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from apps.accounts.caller import Caller
from apps.workspace.egress.headers import header_value_problem

CHANNEL = "X-DIAL-CLIENT-CHANNEL-ID"
KEPT = frozenset({CHANNEL.lower(), "x-conversation-id", "x-job-title"})
"""Headers that go along whatever an operator lists: Core attributes costs and asks people by them."""


def credentials(caller: Caller) -> dict[str, str]:
    """The key, and nothing beside it where there is one."""
    if caller.api_key:
        return {"Api-Key": caller.api_key, **caller.trace}
    return {**bearer(caller), **caller.trace}


def bearer(caller: Caller) -> dict[str, str]:
    return {"Authorization": f"Bearer {caller.bearer}"} if caller.bearer else {}


def forwarded(caller: Caller, names: Collection[str] | None = None) -> dict[str, str]:
    """The headers for a deployment: credentials, language, and the headers of these names (or all)."""
    wanted = None if names is None else KEPT.union(name.lower() for name in names)
    headers = {
        name: value
        for name, value in caller.headers.items()
        if (wanted is None or name.lower() in wanted) and not header_value_problem(value)
    }
    if caller.client_channel and CHANNEL.lower() not in map(str.lower, headers):
        headers[CHANNEL] = caller.client_channel
    return {
        **headers,
        "Accept-Language": caller.locale,
        **bearer(caller),
        **credentials(caller),
    }


def encoded_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """For HTTP clients, which would refuse text beyond ASCII; it came to us as Latin-1."""
    return [
        (name.encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in headers.items()
    ]


def ascii_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers whose values are ASCII."""
    return {name: value for name, value in headers.items() if value.isascii()}
