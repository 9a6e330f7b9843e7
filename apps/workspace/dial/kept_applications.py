"""Applications that DIAL Core keeps: the one that a key was made for, and its document."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from apps.accounts.caller import Caller
from apps.aged_cache import AgedCache
from apps.errors import ServiceFailed
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, encoded
from apps.workspace.dial.wire import mapping

APPDATA = "/appdata/"
READ = ("display_name", "application_properties")
UNKNOWN = frozenset({401, 403, 404})
"""Statuses of an application that does not exist for this key."""

_kept = AgedCache[tuple[str, str], Mapping[str, Any]](256)
"""Documents by Core and encoded name; only answers to keys made for that application."""


async def find_caller(calls: Calls) -> Caller:
    """The caller with the bucket and `appdata` of its key. Raises `ServiceFailed`."""
    buckets = mapping(await calls.get_json("/v1/bucket"))
    appdata = str(buckets.get("appdata") or "").strip("/")
    owner = appdata.partition(APPDATA)[0] or buckets.get("bucket") or ""
    return replace(calls.caller, bucket=f"dial-{owner}", appdata=appdata)


def made_for(caller: Caller) -> str:
    """The decoded name of the application that the caller's key was made for; "" for none."""
    return decoded(caller.appdata.partition(APPDATA)[2])


async def find_own_application(calls: Calls) -> Mapping[str, Any] | None:
    """The document of the application that the caller's key was made for; None if there is none.

    At most `metadata_seconds` old and shared by all keys of the application, because Core tells
    each of them all of it. Raises `ServiceFailed`.
    """
    core = calls.core
    name = encoded_name(made_for(calls.caller))
    if not name:
        return None
    found = _kept.get((core.url, name), core.metadata_seconds)
    if found is None:
        asked_at = time.monotonic()
        found = await fetch_application(calls, name)
        if found is not None and core.metadata_seconds:
            _kept.put((core.url, name), found, asked_at)
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
    """Call it after a save: the next request asks Core again."""
    _kept.drop((core.url, encoded_name(name)))


def forget() -> None:
    _kept.clear()


def encoded_name(name: str) -> str:
    """The encoded name; "" for an impossible one."""
    try:
        return encoded(name)
    except ValueError:
        return ""


def decoded(name: str) -> str:
    """Decode each segment; one that hides a slash stays encoded, because it names something else."""
    return "/".join(map(decoded_segment, name.split("/")))


def decoded_segment(written: str) -> str:
    plain = unquote(written)
    return written if "/" in plain else plain
