"""Determines the caller of a request from its headers: the holder of its API key, or a visitor.

A key is looked up in the database at most once per `KEY_MAX_AGE_SECONDS`, so a revoked key may be
accepted for that long. The process caches only the hash of the key. At most once a minute, it
stores when each key and each connected program was last used.
"""

import asyncio
import hashlib
import ipaddress
import logging
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.db.models import Model
from django.utils import timezone

from apps.accounts.caller import Caller, ClientInfo, Credentials, KeyLimits
from apps.accounts.models import ApiKey
from apps.accounts.own_requests import OWN_REQUEST, is_own_host
from apps.accounts.teams import may_work_in
from apps.errors import NotAuthenticated
from apps.process_state import AgedCache, on_reset

logger = logging.getLogger(__name__)

KEY_MAX_AGE_SECONDS = 1.0
MOST_CACHED_KEYS = 1024
KEY_FORM = re.compile(r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}")
WRITTEN_SECONDS = 60.0
MOST_NOTED = 1024
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
"""A chain of applications that call each other is truncated to this length. Longer chains are
assumed to be forged.
"""

Noted = tuple[type[Model], str, Any]
_noted: dict[Noted, float] = {}
_writing: set[asyncio.Task[None]] = set()
on_reset(_noted.clear)


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

    Return None if there is no key, or if the key belongs to this installation, because such keys
    are never sent to other services.
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


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The owner of an API key, and the limits of the key."""

    prefix: str
    expires_at: datetime | None
    limits: KeyLimits
    key_user_id: int | None
    team: int | None
    is_own_key: bool

    def caller(
        self, bucket: str, client: ClientInfo, credentials: Credentials, folder: str = ""
    ) -> Caller:
        return Caller(
            bucket,
            "key",
            folder=folder,
            key_user_id=self.key_user_id,
            is_own_key=self.is_own_key,
            team=self.team,
            client=client,
            credentials=credentials,
            limits=self.limits,
        )


_holders = AgedCache[bytes, KeyHolder](MOST_CACHED_KEYS)


async def find_holder(key: str) -> KeyHolder | None:
    """Return the holder of a valid key, or None for an unknown, revoked or expired key."""
    if not KEY_FORM.fullmatch(key):
        return None
    digest = hashlib.sha256(key.encode()).digest()
    holder = await _holders.renewed(
        digest, KEY_MAX_AGE_SECONDS, lambda _: database_sync_to_async(read_holder)(key)
    )
    if holder is None or (holder.expires_at is not None and holder.expires_at <= timezone.now()):
        return None
    note_use(ApiKey, "prefix", holder.prefix)
    return holder


def read_holder(key: str) -> KeyHolder | None:
    try:
        row = cast(ApiKey, ApiKey.objects.get_from_key(key))
    except ApiKey.DoesNotExist:
        return None
    return holder_of(row)


def find_holder_of(prefix: str) -> KeyHolder | None:
    """Return the holder of the valid API key with this prefix, or None. Bypasses the cache."""
    row = ApiKey.objects.get_usable_keys().filter(prefix=prefix).first()
    return None if row is None or row.has_expired else holder_of(row)


def holder_of(row: ApiKey) -> KeyHolder | None:
    """Return the holder of an API key, or None if its user's account is closed or its user has left
    the key's team.
    """
    if row.user is not None and not may_work_in(row.user, row.team_id):
        return None
    applications = frozenset(row.applications.values_list("pk", flat=True))
    scope = applications if applications or row.is_limited else None
    limits = KeyLimits(scope, row.version, row.requests_per_minute, row.tokens_per_minute)
    return KeyHolder(row.prefix, row.expiry_date, limits, row.user_id, row.team_id, row.is_own)


def note_use(model: type[Model], column: str, value: Any) -> None:
    """Set the row's `last_used_at` to the current time in the background. The unique `value` in
    `column` identifies the row.
    """
    row, now = (model, column, value), time.monotonic()
    if now - _noted.get(row, -WRITTEN_SECONDS) < WRITTEN_SECONDS:
        return
    while len(_noted) >= MOST_NOTED:
        del _noted[next(iter(_noted))]
    _noted[row] = now
    writing = asyncio.ensure_future(write_use(row))
    _writing.add(writing)
    writing.add_done_callback(_writing.discard)


async def write_use(row: Noted) -> None:
    model, column, value = row
    now = timezone.now()
    due = model._default_manager.filter(**{column: value}).exclude(
        last_used_at__gt=now - timedelta(seconds=WRITTEN_SECONDS)
    )
    try:
        await database_sync_to_async(due.update)(last_used_at=now)
    except Exception:
        logger.exception(
            "Failed to store the time of the last use of the %s %s", model._meta.verbose_name, value
        )


async def settle_uses() -> None:
    """Wait until all recorded uses are stored in the database."""
    await asyncio.gather(*_writing)
