"""Determines the caller of a request from its headers."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from django.conf import settings

from apps.accounts.caller import Caller, ClientInfo, Credentials, KeyLimits
from apps.accounts.keys.holders import KEY_FORM, find_holder
from apps.accounts.own_requests import OWN_REQUEST, is_own_host
from apps.errors import NotAuthenticated

LOCALE_FORM = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
NOT_FORWARDED = re.compile(
    r"x-(api-key|forwarded(-.*)?|real-ip|accel-.*|stainless-.*"
    r"|dial-(application-(id|properties)|deployment-(id|features)|override-name))"
)
"""Matches the headers that are never forwarded, because they contain the API key or come from
proxies or DIAL Core.
"""
TRACE = ("traceparent", "tracestate")
FORWARDED = re.compile(rf"forwarded|via|x-forwarded-.*|x-real-ip|{OWN_REQUEST}")
"""Matches the headers that proxies or the site itself add. A request with one of these does not
come directly from its client.
"""
CHAIN = "x-quickapps-chain"
"""The header that lists the applications whose calls led to a request."""
LONGEST_CHAIN = 20
"""A chain of applications that call each other is truncated to this length. A longer chain is
forged.
"""


class SenderHeaders(msgspec.Struct, frozen=True):
    api_key: str
    bearer: str
    locale: str
    client_channel: str
    chain: tuple[str, ...]
    host: str
    origin: str
    is_forwarded: bool
    forwardable: Mapping[str, str]
    trace: Mapping[str, str]


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
        sent.locale,
        channel=sent.client_channel,
        chain=sent.chain,
        headers=sent.forwardable,
        trace=sent.trace,
    )


def read_headers(headers: Iterable[tuple[bytes, bytes]]) -> SenderHeaders:
    # If a header occurs several times, the first value is used.
    found: dict[str, str] = {}
    forwardable: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        found.setdefault(name, value)
        if name.startswith("x-") and not NOT_FORWARDED.fullmatch(name):
            forwardable.setdefault(name, value)
    return SenderHeaders(
        api_key=found.get("api-key") or found.get("x-api-key", ""),
        bearer=bearer_of(found.get("authorization", "")),
        locale=locale_of(found.get(settings.PROXY_LANGUAGE_HEADER, "")),
        client_channel=found.get("x-dial-client-channel-id", ""),
        chain=chain_of(found.get(CHAIN, "")),
        host=found.get("host", ""),
        origin=found.get("origin", ""),
        is_forwarded=any(map(FORWARDED.fullmatch, found)),
        forwardable=forwardable,
        trace={name: found[name] for name in TRACE if name in found},
    )


def bearer_of(authorization: str) -> str:
    kind, _, credentials = authorization.partition(" ")
    return credentials.strip() if kind.lower() == "bearer" else ""


def locale_of(languages: str) -> str:
    """Return the first language in an `Accept-Language` header such as `de-CH, de;q=0.9`, or "en"
    if there is none.
    """
    first = languages.partition(",")[0].partition(";")[0].strip()
    return first if LOCALE_FORM.fullmatch(first) else "en"


def chain_of(written: str) -> tuple[str, ...]:
    """Return the applications in the header `CHAIN`, outermost first."""
    return tuple(map(unquote, written.split(",")[:LONGEST_CHAIN])) if written else ()


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
