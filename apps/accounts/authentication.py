"""From the headers of a request to its caller."""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from apps.accounts.caller import Caller
from apps.accounts.key_holders import KEY_FORM, find_holder
from apps.accounts.sender_headers import SenderHeaders, is_own_host, read_headers
from apps.errors import NotAuthenticated


async def authenticate(scope: Mapping[str, Any]) -> Caller:
    """The caller of an ASGI request: the holder of a key, or a visitor on this machine.

    Raises `NotAuthenticated`.
    """
    sent = read_headers(scope["headers"])
    key = sent.api_key or sent.bearer
    if not key:
        if not is_local(scope.get("client"), sent):
            raise NotAuthenticated
        # Two visitors cannot be told apart here, so they own no files.
        return Caller("", **told_by(sent))
    holder = await find_holder(key)
    if holder is None:
        raise NotAuthenticated
    # One of our keys is useless elsewhere, so it is not passed on.
    bearer = sent.bearer if sent.api_key and sent.bearer != sent.api_key else ""
    bucket = f"key-{holder.prefix}"
    return Caller(bucket, "key", bearer=bearer, **holder.limits, **told_by(sent))


def claimed(scope: Mapping[str, Any]) -> Caller | None:
    """The caller that a request claims to have, for DIAL Core to confirm.

    None without a key, and for a key of our form, which is never sent to others.
    """
    sent = read_headers(scope["headers"])
    if not sent.api_key or KEY_FORM.fullmatch(sent.api_key):
        return None
    return Caller(
        "",
        "dial",
        scope=frozenset(),
        bearer=sent.bearer,
        api_key=sent.api_key,
        **told_by(sent),
    )


def told_by(sent: SenderHeaders) -> dict[str, Any]:
    """The fields of a `Caller` that headers fill, without credentials."""
    return {
        "locale": sent.locale,
        "client_channel": sent.client_channel,
        "headers": sent.forwardable,
        "trace": sent.trace,
    }


def is_local(client: Iterable[Any] | None, sent: SenderHeaders) -> bool:
    """Whether a program on this machine, or a page of this site, sent the request without a proxy.

    A browser on this machine that shows a page of another site sends its origin, or a foreign host.
    """
    if client is None or sent.is_forwarded or not is_loopback(next(iter(client), "")):
        return False
    return is_own_host(sent.host) and (not sent.origin or is_own_page(sent))


def is_own_page(sent: SenderHeaders) -> bool:
    """Whether the page that sent the request needs no key.

    Where CORS admits other origins, pages on other ports of this machine need one as well.
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
