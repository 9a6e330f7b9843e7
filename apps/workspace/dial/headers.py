"""Builds the headers for Core and its deployments: credentials, forwarded headers, and the chain of
applications.

Core forwards the headers of a request to the applications that it calls. A run therefore adds its
application to a header, which the next application reads. A sender who forges this header can only
make the listed applications unavailable to itself.
"""

from collections.abc import Collection, Mapping
from urllib.parse import quote, unquote

from apps.accounts.authentication import CHAIN, LONGEST_CHAIN
from apps.accounts.caller import Caller
from apps.errors import CallsItself
from apps.workspace.egress.headers import header_value_problem

CHANNEL = "X-DIAL-CLIENT-CHANNEL-ID"
ALWAYS_FORWARDED = frozenset({CHANNEL.lower(), "x-conversation-id", "x-job-title"})
"""The headers that are always forwarded. Core uses them to attribute costs and to send questions to
users.
"""


def credentials(caller: Caller) -> dict[str, str]:
    """Return the headers that identify the caller by an API key or, if there is no key, by a bearer
    token. They include the trace headers.
    """
    if caller.credentials.api_key:
        return {"Api-Key": caller.credentials.api_key, **caller.client.trace}
    return {**bearer(caller), **caller.client.trace}


def bearer(caller: Caller) -> dict[str, str]:
    token = caller.credentials.bearer
    return {"Authorization": f"Bearer {token}"} if token else {}


def forwarded_headers(caller: Caller, names: Collection[str] | None = None) -> dict[str, str]:
    """Return the headers for a deployment: credentials, language, and the caller's headers with
    these `names` (None means all of them).
    """
    wanted = None if names is None else ALWAYS_FORWARDED.union(name.lower() for name in names)
    headers = {
        name: value
        for name, value in caller.client.headers.items()
        if (wanted is None or name.lower() in wanted) and not header_value_problem(value)
    }
    if caller.client.channel and CHANNEL.lower() not in map(str.lower, headers):
        headers[CHANNEL] = caller.client.channel
    return {
        **headers,
        "Accept-Language": caller.client.locale,
        **bearer(caller),
        **credentials(caller),
    }


def ascii_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if value.isascii()}


def write_chain(chain: tuple[str, ...]) -> dict[str, str]:
    if not chain:
        return {}
    return {CHAIN: ",".join(quote(item, safe="") for item in chain[-LONGEST_CHAIN:])}


def check_chain(chain: tuple[str, ...], deployment_id: str) -> None:
    """Raise `CallsItself` if the deployment is in the chain of applications whose calls led to this
    run.
    """
    if unquote(deployment_id) in map(unquote, chain):
        raise CallsItself((*chain, deployment_id), "An application cannot call itself")
