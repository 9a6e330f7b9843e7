"""Check of the hosts that may be contacted, by the IP addresses that are connected to.

A name is resolved here, each address is judged, and connections go to exactly these addresses. So
redirects, changing DNS answers and unusual spellings of an address cannot get around the check.
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
from apps.workspace.egress.addresses import Reach, reach
from apps.workspace.egress.unknown_hosts import HostUnknown


class Trust(Enum):
    """The source of an address, which decides how far it may lead."""

    GUARDED = "guarded"
    """A model or a user: the public Internet only."""
    OPERATOR = "operator"
    """A manifest or a deployment: private networks too, for hosts on the allowlist."""
    SITE = "site"
    """This server, at SITE_URL, and nothing else."""
    DIAL = "dial"
    """DIAL Core, at DIAL_URL, and nothing else: its address is the operator's, private or not."""


SINGLE_HOSTS = {
    Trust.SITE: ("SITE_URL", "is not this server. Write the address in full, or set SITE_URL."),
    Trust.DIAL: ("DIAL_URL", "is not DIAL Core. DIAL_URL says where that is."),
}
"""The setting with the only host of a level of trust, and the refusal of any other host."""

METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data"}
    | {"instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com"}
)
"""Hosts on which clouds hand out a machine's credentials; refused whatever they resolve to."""


@dataclass(frozen=True, slots=True)
class Address:
    """`host` is an IP address."""

    host: str
    port: int


async def find_addresses(trust: Trust, host: str, port: int) -> list[Address]:
    """Resolve and judge. Raises `EgressRefused`, and OSError when the name is unknown."""
    if trust in SINGLE_HOSTS:
        check_single_host(trust, host, port)
        return await resolve(host, port)
    check_not_metadata(host)
    found = await resolve(host, port)
    for address in found:
        check_reach(trust, host, reach(address.host))
    return found


async def resolve(host: str, port: int) -> list[Address]:
    """Every address of a host, in the resolver's order. Raises OSError."""
    loop = asyncio.get_running_loop()
    try:
        rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:  # the second of an empty or overlong label
        raise HostUnknown(host, error) from error
    return list(dict.fromkeys(Address(str(row[4][0]), port) for row in rows))


def check_not_metadata(host: str) -> None:
    """Raises `EgressRefused`."""
    if bare_host(host) in METADATA_NAMES:
        raise EgressRefused(
            f"The host {host!r} is the metadata service of a cloud, which is never contacted."
        )


def check_reach(trust: Trust, host: str, distance: Reach) -> None:
    """Raises `EgressRefused`."""
    if distance is Reach.PUBLIC:
        return
    if distance is Reach.NEVER:
        raise EgressRefused(
            f"The host {host!r} has an address that is never contacted (link-local, reserved or "
            "translated). Use a host with an ordinary address."
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
    """Whether an entry is the host, or is `*.suffix` and the host ends in `.suffix`."""
    name = bare_host(host)
    for entry in map(bare_host, allowlist):
        if name == entry or (entry.startswith("*.") and name.endswith(entry[1:])):
            return True
    return False


def bare_host(host: str) -> str:
    return host.strip().rstrip(".").removeprefix("[").removesuffix("]").lower()


def check_single_host(trust: Trust, host: str, port: int) -> None:
    """Raises `EgressRefused`."""
    setting, problem = SINGLE_HOSTS[trust]
    place = urlsplit(getattr(settings, setting))
    expected = place.port or (443 if place.scheme == "https" else 80)
    if bare_host(host) != bare_host(place.hostname or "") or port != expected:
        raise EgressRefused(f"{host}:{port} {problem}")


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The operating system's certificates, or those that SSL_CERT_FILE names."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
