"""Finds the application for which a per-request key was created, and its document in DIAL Core."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from apps.accounts.caller import Caller
from apps.errors import ServiceFailed
from apps.process_state import AgedCache
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, encode_path
from apps.workspace.dial.wire import mapping

APPDATA = "/appdata/"
READ = ("display_name", "application_properties")
UNKNOWN = frozenset({401, 403, 404})
"""The status codes that mean that the application does not exist for this key."""

_cache = AgedCache[tuple[str, str], Mapping[str, Any]](256)
"""The cached documents, by Core and encoded name. Only responses to requests with a key that was
created for the application are cached.
"""


async def find_caller(calls: Calls) -> Caller:
    """Return the caller with the bucket and the `appdata` folder that Core reports for its key.
    Raises `ServiceFailed` if a call to Core fails.
    """
    buckets = mapping(await calls.get_json("/v1/bucket"))
    appdata = str(buckets.get("appdata") or "").strip("/")
    owner = appdata.partition(APPDATA)[0] or buckets.get("bucket") or ""
    return replace(calls.caller, bucket=f"dial-{owner}", appdata=appdata)


def made_for(caller: Caller) -> str:
    """Return the decoded name of the application for which the caller's key was created, or "" if
    there is none.
    """
    return decode_name(caller.appdata.partition(APPDATA)[2])


async def find_own_application(calls: Calls) -> Mapping[str, Any] | None:
    """Return the document of the application for which the caller's key was created, or None if
    there is none.

    The result is at most `metadata_seconds` old. All keys of the application share it, because Core
    returns the whole document to each of them. Raises `ServiceFailed` if a call to Core fails.
    """
    core = calls.core
    name = encoded_name(made_for(calls.caller))
    if not name:
        return None
    found = _cache.get((core.url, name), core.metadata_seconds)
    if found is None:
        asked_at = time.monotonic()
        found = await fetch_application(calls, name)
        if found is not None and core.metadata_seconds:
            _cache.put((core.url, name), found, asked_at)
    return found


async def fetch_application(calls: Calls, name: str) -> Mapping[str, Any] | None:
    try:
        written = mapping(await calls.get_json(f"/openai/applications/{name}"))
    except ServiceFailed as failure:
        if failure.status in UNKNOWN:
            return None
        raise
    return {key: written.get(key) for key in READ}


def forget_application(core: Core, name: str) -> None:
    """Remove an application that was just saved from the cache, so that the next request reads it
    from Core.
    """
    _cache.drop((core.url, encoded_name(name)))


def encoded_name(name: str) -> str:
    """Return the name with each segment encoded, or "" if it is invalid."""
    try:
        return encode_path(name)
    except ValueError:
        return ""


def decode_name(name: str) -> str:
    """Decode each segment of a name. A segment that contains an encoded slash is not decoded,
    because that would change its meaning.
    """
    return "/".join(map(decoded_segment, name.split("/")))


def decoded_segment(written: str) -> str:
    plain = unquote(written)
    return written if "/" in plain else plain
