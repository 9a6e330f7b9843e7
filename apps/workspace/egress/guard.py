"""Checks the IP addresses of hosts before a connection is opened.

This module resolves a name and checks each address, and connections use exactly these addresses.
Redirects, DNS rebinding and unusual spellings of an address therefore cannot bypass the check.
"""

import asyncio
import functools
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlsplit

from django.conf import settings

from apps.errors import EgressRefused
from apps.workspace.egress.ip_addresses import Reach, reach

UNKNOWN = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class Trust(Enum):
    """The source of a URL. It determines the hosts to which the URL may refer."""

    GUARDED = "guarded"
    """A model or a user provided the URL: only the public internet is allowed."""
    OPERATOR = "operator"
    """A manifest or a deployment provided the URL: private networks are also allowed, for hosts on
    the allowlist.
    """
    SITE = "site"
    """Only this server, at SITE_URL, is allowed."""
    DIAL = "dial"
    """Only DIAL Core, at DIAL_URL, is allowed. The operator chose the URL, so it may be private."""
    VAULT = "vault"
    """Only Vault, at VAULT_URL, is allowed. The operator chose the URL, so it may be private."""


SINGLE_HOSTS = {
    Trust.SITE: ("SITE_URL", "is not this server. Use a full URL, or set SITE_URL."),
    Trust.DIAL: ("DIAL_URL", "is not DIAL Core. Use the URL in the setting DIAL_URL."),
    Trust.VAULT: ("VAULT_URL", "is not Vault. Use the URL in the setting VAULT_URL."),
}
"""Maps each level of trust that allows only one host to the setting with that host's URL, and to
the message for any other host.
"""

METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data"}
    | {"instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com"}
)
"""The host names of the metadata services from which programs on a cloud machine get the machine's
credentials. These hosts are always blocked, regardless of their address.
"""

LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True)
class HostAddress:
    """A resolved host. `host` is an IP address."""

    host: str
    port: int


async def find_addresses(trust: Trust, host: str, port: int) -> list[HostAddress]:
    """Resolve a host and check its addresses. Raises `EgressRefused` if the host is not allowed,
    and OSError if its name is unknown.
    """
    if trust in SINGLE_HOSTS:
        check_single_host(trust, host, port)
        return await resolve(host, port)
    check_not_metadata(host)
    found = await resolve(host, port)
    for address in found:
        check_reach(trust, host, reach(address.host))
    return found


async def resolve(host: str, port: int) -> list[HostAddress]:
    """Return every address of a host, in the resolver's order. Raises OSError for an unknown
    host.
    """
    loop = asyncio.get_running_loop()
    try:
        rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        # The IDNA codec raises UnicodeError for an empty or overlong label.
        raise HostUnknown(host, error) from error
    return list(dict.fromkeys(HostAddress(str(row[4][0]), port) for row in rows))


def check_not_metadata(host: str) -> None:
    """Raise `EgressRefused` if the host is a cloud metadata service."""
    if bare_host(host) in METADATA_NAMES:
        raise EgressRefused(
            f"The host {host!r} is a cloud metadata service. Requests to it are blocked."
        )


def check_written_host(trust: Trust, host: str) -> None:
    """Raise `EgressRefused` if the host is a blocked IP address, `localhost`, or a cloud metadata
    service.

    Other names are not resolved here.
    """
    check_not_metadata(host)
    name = bare_host(host)
    if name == LOCALHOST or name.endswith(f".{LOCALHOST}"):
        check_reach(trust, host, Reach.PRIVATE)
        return
    try:
        rows = socket.getaddrinfo(name, None, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):  # The host is a name.
        return
    for row in rows:
        check_reach(trust, host, reach(str(row[4][0])))


def check_reach(trust: Trust, host: str, distance: Reach) -> None:
    """Raise `EgressRefused` if the level of trust does not allow the host."""
    if distance is Reach.PUBLIC:
        return
    if distance is Reach.NEVER:
        raise EgressRefused(
            f"The host {host!r} has a link-local, reserved or NAT64 address. Requests to "
            "it are blocked. Use a host with a different address."
        )
    if trust is Trust.GUARDED:
        raise EgressRefused(
            f"The host {host!r} is on a private network. Only public addresses can be used here."
        )
    if not is_allowed(host, settings.PRIVATE_NETWORK_ALLOWLIST):
        raise EgressRefused(
            f"The host {host!r} is on a private network. If the server may contact it, add "
            f"{host} to the setting PRIVATE_NETWORK_ALLOWLIST."
        )


def is_allowed(host: str, allowlist: Iterable[str]) -> bool:
    """Return True if an entry in the allowlist equals the host, or is `*.suffix` and the host ends
    in `.suffix`.
    """
    name = bare_host(host)
    for entry in map(bare_host, allowlist):
        if name == entry or (entry.startswith("*.") and name.endswith(entry[1:])):
            return True
    return False


def bare_host(host: str) -> str:
    return host.strip().rstrip(".").removeprefix("[").removesuffix("]").lower()


def check_single_host(trust: Trust, host: str, port: int) -> None:
    """Raise `EgressRefused` unless the host and port match the setting for this level of trust."""
    setting, problem = SINGLE_HOSTS[trust]
    place = urlsplit(getattr(settings, setting))
    expected = place.port or (443 if place.scheme == "https" else 80)
    if bare_host(host) != bare_host(place.hostname or "") or port != expected:
        raise EgressRefused(f"{host}:{port} {problem}")


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return a TLS context that trusts the operating system's certificates, or the certificates in
    SSL_CERT_FILE.
    """
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class HostUnknown(socket.gaierror):
    """Raised if a host name cannot be resolved. The message is a sentence that contains the
    host.
    """

    def __init__(self, host: str, error: OSError | UnicodeError) -> None:
        is_unknown = isinstance(error, UnicodeError) or error.errno in UNKNOWN
        self.text = (
            f"The host {host!r} is unknown; check its name."
            if is_unknown
            else f"The name {host!r} could not be looked up; try again later."
        )
        super().__init__(socket.EAI_NONAME, self.text)


def unknown_host(error: BaseException) -> str:
    """Return a message if a request failed because its host is unknown, or "" for any other
    failure.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, HostUnknown):
            return seen.text
        seen = seen.__cause__ or seen.__context__
    return ""
