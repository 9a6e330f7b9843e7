"""Determines the network address of a client that may be behind trusted proxies."""

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

FORWARDED = b"x-forwarded-for"


def address_of_scope(scope: Mapping[str, Any]) -> str:
    """Return the network address of the client of an ASGI connection, or "" on a Unix socket."""
    sent = (value for name, value in scope["headers"] if name == FORWARDED)
    told = ",".join(value.decode("latin-1") for value in sent)
    return client_address((scope.get("client") or ("",))[0], told)


def address_of(request: HttpRequest) -> str:
    """Return the network address of the client of a Django request, or "" on a Unix socket."""
    told = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return client_address(request.META.get("REMOTE_ADDR") or "", told)


def network_of(address: str) -> str:
    """Return the part of an address that identifies a client: the 64-bit network of an IPv6
    address, or any other address unchanged.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)


def client_address(connected: str, forwarded: str) -> str:
    """Return the address that the outermost of `TRUSTED_PROXY_COUNT` proxies reports, or else the
    address of the connection. `forwarded` is the `X-Forwarded-For` header.
    """
    count = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    told = [one.strip() for one in forwarded.split(",")] if count and forwarded else []
    return plain_address(told[-count] if len(told) >= count > 0 else connected)


def plain_address(text: str) -> str:
    """Return an IP address without its zone, and as IPv4 if it is an IPv4-mapped IPv6 address. Any
    other text is returned unchanged.
    """
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    return str(getattr(address, "ipv4_mapped", None) or address)
