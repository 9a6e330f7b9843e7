"""Letting another deployment read files, for as long as this request lasts."""

from __future__ import annotations

from collections.abc import Sequence

from apps.errors import FileRefused
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.resources import missing, resource_path, shown

PATH = "/v1/ops/resource/per-request-permissions/grant"
REFUSED = frozenset({400, 401, 403})
"""401 is for other keys than those that Core makes for one request."""


async def grant(calls: Calls, paths: Sequence[str], receiver: str) -> None:
    """Raises `FileRefused`, `ServiceFailed`."""
    places = list(dict.fromkeys(resource_path(calls.core, path) for path in paths))
    if not places:
        return
    body = {
        "resourcePermissions": [{"url": place, "permissions": ["READ"]} for place in places],
        "receiver": receiver,
    }
    try:
        await calls.send("POST", PATH, json=body)
    except CoreRefused as refusal:
        if refusal.status == 404:
            raise missing(", ".join(places)) from refusal
        if refusal.status in REFUSED:
            raise FileRefused(
                f"DIAL does not let {receiver!r} read {shown(', '.join(places))}."
            ) from refusal
        raise
