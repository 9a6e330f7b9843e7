"""Determines the caller of a request from its headers."""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from apps.accounts.caller import Caller, ClientInfo, Credentials, KeyLimits
from apps.accounts.keys.holders import KEY_FORM, find_holder
from apps.accounts.sender_headers import SenderHeaders, is_own_host, read_headers
from apps.errors import NotAuthenticated


async def authenticate(scope: Mapping[str, Any]) -> Caller:
    """Return the caller of an ASGI request: the holder of its API key, or a visitor if a program on
    this machine sends no key.

    Raises `NotAuthenticated` if the key is invalid, or if a request from elsewhere has none.
    """
    sent = read_headers(scope["headers"])
    key = sent.api_key or sent.bearer
    if not key:
        if not is_local(scope.get("client"), sent):
            raise NotAuthenticated
        # The request does not identify visitors, so they own no files.
        return Caller("", client=client_of(sent))
    holder = await find_holder(key)
    if holder is None:
        raise NotAuthenticated
    # Our keys are not forwarded, because other services cannot use them.
    bearer = sent.bearer if sent.api_key and sent.bearer != sent.api_key else ""
    return holder.caller(f"key-{holder.prefix}", client_of(sent), Credentials(bearer))


def read_claimed_caller(scope: Mapping[str, Any]) -> Caller | None:
    """Return the caller that the request's headers claim. DIAL Core must confirm the claim.

    Return None without a key, and for a key of this installation, because such keys are never sent
    to other services.
    """
    sent = read_headers(scope["headers"])
    if not sent.api_key or KEY_FORM.fullmatch(sent.api_key):
        return None
    return Caller(
        "",
        "dial",
        client=client_of(sent),
        credentials=Credentials(sent.bearer, sent.api_key),
        limits=KeyLimits(scope=frozenset()),
    )


def client_of(sent: SenderHeaders) -> ClientInfo:
    return ClientInfo(
        sent.locale, channel=sent.client_channel, headers=sent.forwardable, trace=sent.trace
    )


def is_local(client: Iterable[Any] | None, sent: SenderHeaders) -> bool:
    """Return True if a program on this machine, or a page of this site, sent the request directly.

    The `Origin` and `Host` headers reveal a request from another site's page that is open on this
    machine.
    """
    if client is None or sent.is_forwarded or not is_loopback(next(iter(client), "")):
        return False
    return is_own_host(sent.host) and (not sent.origin or is_own_page(sent))


def is_own_page(sent: SenderHeaders) -> bool:
    """Return True if the page that sent the request needs no key, because its origin is this
    server.

    If CORS allows no other origins, pages from other ports of this machine need no key either.
    """
    origin = urlsplit_host(sent.origin)
    return is_own_host(origin) and (not settings.CORS_ALLOWED_ORIGINS or origin == sent.host)


def is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


def urlsplit_host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
