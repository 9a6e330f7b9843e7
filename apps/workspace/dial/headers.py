"""Headers for Core and its deployments: credentials, forwarded ones, and the chain of applications.

Core forwards a request's headers to the applications that it calls, so a run names itself to the
next one in a header. A forged header only refuses its sender the applications that it names.
"""

from collections.abc import Collection, Mapping
from urllib.parse import quote, unquote

from apps.accounts.caller import Caller
from apps.errors import CallsItself
from apps.workspace.egress.headers import header_value_problem

CHANNEL = "X-DIAL-CLIENT-CHANNEL-ID"
ALWAYS_FORWARDED = frozenset({CHANNEL.lower(), "x-conversation-id", "x-job-title"})
"""Forwarded whatever an operator lists: Core attributes costs and asks people by them."""

CHAIN = "X-QUICKAPPS-CHAIN"
LONGEST_CHAIN = 20
"""Applications inside each other; a longer chain is no honest one."""


def credentials(caller: Caller) -> dict[str, str]:
    """The API key alone, or the bearer token of a caller without one; and the trace headers."""
    if caller.api_key:
        return {"Api-Key": caller.api_key, **caller.trace}
    return {**bearer(caller), **caller.trace}


def bearer(caller: Caller) -> dict[str, str]:
    return {"Authorization": f"Bearer {caller.bearer}"} if caller.bearer else {}


def forwarded(caller: Caller, names: Collection[str] | None = None) -> dict[str, str]:
    """Headers for a deployment: credentials, language and the caller's headers of these names (or all)."""
    wanted = None if names is None else ALWAYS_FORWARDED.union(name.lower() for name in names)
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


def ascii_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if value.isascii()}


def read_chain(headers: Mapping[str, str]) -> tuple[str, ...]:
    for name, value in headers.items():
        if name.upper() == CHAIN and value:
            return tuple(unquote(item) for item in value.split(",")[:LONGEST_CHAIN])
    return ()


def write_chain(chain: tuple[str, ...]) -> dict[str, str]:
    if not chain:
        return {}
    return {CHAIN: ",".join(quote(item, safe="") for item in chain[-LONGEST_CHAIN:])}


def check_chain(chain: tuple[str, ...], deployment_id: str) -> None:
    """Raises `CallsItself` for an application in the chain."""
    if unquote(deployment_id) in map(unquote, chain):
        raise CallsItself(
            (*chain, deployment_id), "An application cannot be called inside of itself"
        )
