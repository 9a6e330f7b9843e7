"""From the headers of a request to its caller.

A key is looked up in the database at most once in `KEY_MAX_AGE_SECONDS`, so a revoked one may be
accepted for that long. The process keeps its hash alone.
"""

import asyncio
import hashlib
import ipaddress
import logging
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey
from apps.aged_cache import AgedCache
from apps.errors import NotAuthenticated

logger = logging.getLogger(__name__)

KEY_MAX_AGE_SECONDS = 1.0
MOST_KEPT_KEYS = 1024
USE_WRITTEN_SECONDS = 60.0
KEY_FORM = re.compile(r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}")
LOCALE_FORM = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
KEPT_BACK = re.compile(
    r"x-(api-key|forwarded(-.*)?|real-ip|accel-.*|stainless-.*"
    r"|dial-(application-(id|properties)|deployment-(id|features)|override-name))"
)
"""Headers that are never passed on: the key, those of proxies, and those that DIAL Core writes, of
which some hold a whole manifest."""
TRACE = ("traceparent", "tracestate")


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The owner of a key; `scope` are the applications that it may use (None: all)."""

    prefix: str
    scope: frozenset[int] | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class SenderHeaders:
    api_key: str
    bearer: str
    locale: str
    client_channel: str
    host: str
    origin: str
    is_forwarded: bool
    forwardable: Mapping[str, str]
    trace: Mapping[str, str]


_kept = AgedCache[bytes, KeyHolder](MOST_KEPT_KEYS)
_use_written: dict[str, float] = {}
_writing: set[asyncio.Task[None]] = set()


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
        return with_headers(sent, Caller(bucket=""), bearer="")
    holder = await find_holder(key)
    if holder is None:
        raise NotAuthenticated
    # One of our keys is useless elsewhere, so it is not passed on.
    bearer = sent.bearer if sent.api_key and sent.bearer != sent.api_key else ""
    who = Caller(f"key-{holder.prefix}", "key", scope=holder.scope)
    return with_headers(sent, who, bearer=bearer)


def claimed(scope: Mapping[str, Any]) -> Caller | None:
    """The caller that a request claims to have, for DIAL Core to confirm.

    None without a key, and for a key of our form, which is never sent to others.
    """
    sent = read_headers(scope["headers"])
    if not sent.api_key or KEY_FORM.fullmatch(sent.api_key):
        return None
    nobody = Caller("", "dial", scope=frozenset())
    return replace(with_headers(sent, nobody, bearer=sent.bearer), api_key=sent.api_key)


def with_headers(sent: SenderHeaders, who: Caller, *, bearer: str) -> Caller:
    return Caller(
        who.bucket,
        who.kind,
        scope=who.scope,
        locale=sent.locale,
        client_channel=sent.client_channel,
        bearer=bearer,
        headers=sent.forwardable,
        trace=sent.trace,
    )


# --- Headers ----------------------------------------------------------------------------------


def read_headers(headers: Iterable[tuple[bytes, bytes]]) -> SenderHeaders:
    # The first of several headers with one name counts.
    found: dict[str, str] = {}
    forwardable: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        found.setdefault(name, value)
        if name.startswith("x-") and not KEPT_BACK.fullmatch(name):
            forwardable.setdefault(name, value)
    return SenderHeaders(
        api_key=found.get("api-key") or found.get("x-api-key", ""),
        bearer=bearer_of(found.get("authorization", "")),
        locale=locale_of(found.get(settings.PROXY_LANGUAGE_HEADER, "")),
        client_channel=found.get("x-dial-client-channel-id", ""),
        host=found.get("host", ""),
        origin=found.get("origin", ""),
        is_forwarded="x-forwarded-for" in found or "forwarded" in found,
        forwardable=forwardable,
        trace={name: found[name] for name in TRACE if name in found},
    )


def bearer_of(authorization: str) -> str:
    kind, _, credentials = authorization.partition(" ")
    return credentials.strip() if kind.lower() == "bearer" else ""


def locale_of(languages: str) -> str:
    """The first language of a list such as `de-CH, de;q=0.9`; "en" when there is none."""
    first = languages.partition(",")[0].partition(";")[0].strip()
    return first if LOCALE_FORM.fullmatch(first) else "en"


# --- Visitors ---------------------------------------------------------------------------------


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


def is_own_host(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def urlsplit_host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


# --- Keys -------------------------------------------------------------------------------------


async def find_holder(key: str) -> KeyHolder | None:
    """The holder of a valid key, None for an unknown, revoked or expired one."""
    if not KEY_FORM.fullmatch(key):
        return None
    digest = hashlib.sha256(key.encode()).digest()
    now = time.monotonic()
    holder = _kept.get(digest, KEY_MAX_AGE_SECONDS) or await look_up(key, digest, now)
    if holder is None or (holder.expires_at is not None and holder.expires_at <= timezone.now()):
        return None
    note_use(holder.prefix, now)
    return holder


async def look_up(key: str, digest: bytes, now: float) -> KeyHolder | None:
    known = _kept.get(digest)
    if known is not None:
        _kept.put(digest, known, now)  # the others of this moment need not ask as well
    holder: KeyHolder | None = None
    try:
        holder = await database_sync_to_async(read_holder)(key)
    finally:
        if known is not None or holder is not None:  # wrong keys must not push out the right ones
            _kept.put(digest, holder, now)
    return holder


def read_holder(key: str) -> KeyHolder | None:
    try:
        row = cast(ApiKey, ApiKey.objects.get_from_key(key))
    except ApiKey.DoesNotExist:
        return None
    applications = frozenset(row.applications.values_list("pk", flat=True))
    scope = applications if applications or row.is_limited else None
    return KeyHolder(row.prefix, scope, row.expiry_date)


def note_use(prefix: str, now: float) -> None:
    """Store the time of a key's use, once a minute at most, without delaying the request."""
    if now - _use_written.get(prefix, -USE_WRITTEN_SECONDS) < USE_WRITTEN_SECONDS:
        return
    while len(_use_written) >= MOST_KEPT_KEYS:
        del _use_written[next(iter(_use_written))]
    _use_written[prefix] = now
    writing = asyncio.ensure_future(write_use(prefix))
    _writing.add(writing)
    writing.add_done_callback(_writing.discard)


async def write_use(prefix: str) -> None:
    now = timezone.now()
    due = ApiKey.objects.filter(prefix=prefix).exclude(
        last_used_at__gt=now - timedelta(seconds=USE_WRITTEN_SECONDS)
    )
    try:
        await database_sync_to_async(due.update)(last_used_at=now)
    except Exception:
        logger.exception("The use of key %s could not be written down", prefix)


async def settle() -> None:
    """Wait until all uses are stored."""
    await asyncio.gather(*_writing)
