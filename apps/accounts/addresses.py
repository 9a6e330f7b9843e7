"""The network address of a client, also behind proxies that are trusted."""

from collections.abc import Mapping
from typing import Any

from allauth.core.internal import ratelimit
from django.conf import settings
from django.http import HttpRequest

from apps.accounts.throttle import plain_address

FORWARDED = b"x-forwarded-for"


def address_of_scope(scope: Mapping[str, Any]) -> str:
    """ "" on a Unix socket."""
    sent = (value for name, value in scope["headers"] if name == FORWARDED)
    told = ",".join(value.decode("latin-1") for value in sent)
    return client_address((scope.get("client") or ("",))[0], told)


def address_of(request: HttpRequest) -> str:
    """ "" on a Unix socket."""
    told = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return client_address(request.META.get("REMOTE_ADDR") or "", told)


def network_of(address: str) -> str:
    """What one client can have of addresses: the 64 bits of an IPv6 network, else the address."""
    return str(ratelimit.truncate_ip(address))


def client_address(connected: str, forwarded: str) -> str:
    """What the outermost of `TRUSTED_PROXY_COUNT` proxies tells, else that of the connection."""
    count = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    told = [one.strip() for one in forwarded.split(",")] if count and forwarded else []
    return plain_address(told[-count] if len(told) >= count > 0 else connected)
