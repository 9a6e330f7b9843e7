"""Reads the headers that identify the sender of a request, or that may be forwarded."""

import re
from collections.abc import Iterable, Mapping

import msgspec
from django.conf import settings
from django.http.request import split_domain_port, validate_host

LOCALE_FORM = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
NOT_FORWARDED = re.compile(
    r"x-(api-key|forwarded(-.*)?|real-ip|accel-.*|stainless-.*"
    r"|dial-(application-(id|properties)|deployment-(id|features)|override-name))"
)
"""Matches the headers that are never forwarded, because they contain the API key or come from
proxies or DIAL Core.
"""
TRACE = ("traceparent", "tracestate")
OWN_REQUEST = "quickapps-request"
"""The header by which the site recognizes requests that it sends to its own URL."""
FORWARDED = re.compile(rf"forwarded|via|x-forwarded-.*|x-real-ip|{OWN_REQUEST}")
"""Matches the headers that proxies or the site itself add. A request with one of these does not
come directly from its client.
"""


class SenderHeaders(msgspec.Struct, frozen=True):
    api_key: str
    bearer: str
    locale: str
    client_channel: str
    host: str
    origin: str
    is_forwarded: bool
    forwardable: Mapping[str, str]
    trace: Mapping[str, str]


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
        host=found.get("host", ""),
        origin=found.get("origin", ""),
        is_forwarded=any(map(FORWARDED.fullmatch, found)),
        forwardable=forwardable,
        trace={name: found[name] for name in TRACE if name in found},
    )


def is_own_host(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def bearer_of(authorization: str) -> str:
    kind, _, credentials = authorization.partition(" ")
    return credentials.strip() if kind.lower() == "bearer" else ""


def locale_of(languages: str) -> str:
    """Return the first language in an `Accept-Language` header such as `de-CH, de;q=0.9`, or "en"
    if there is none.
    """
    first = languages.partition(",")[0].partition(";")[0].strip()
    return first if LOCALE_FORM.fullmatch(first) else "en"
