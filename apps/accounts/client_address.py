"""Determines the network address of a client. The server has already replaced the address of a
proxy in `TRUSTED_PROXIES` with the client's.
"""

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest


def address_of_scope(scope: Mapping[str, Any]) -> str:
    """Return the client's network address for an ASGI connection, or "" on a Unix socket."""
    return plain_address((scope.get("client") or ("",))[0])


def address_of(request: HttpRequest) -> str:
    """Return the client's network address for a Django request, or "" on a Unix socket."""
    return plain_address(request.META.get("REMOTE_ADDR") or "")


def network_of(address: str) -> str:
    """Return the part of an address that identifies a client: the 64-bit network of an IPv6
    address, or the whole text for anything else.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)


def plain_address(text: str) -> str:
    """Return an IP address without its zone. Convert an IPv4-mapped IPv6 address to IPv4. Return
    any other text unchanged.
    """
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    return str(getattr(address, "ipv4_mapped", None) or address)
