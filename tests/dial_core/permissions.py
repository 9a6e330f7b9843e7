"""Permissions on resources, and grants between deployments."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

from tests.dial_core.exchange import Exchange
from tests.dial_core.keys import Caller, RequestKey
from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import bucket_of, canonical, covers, is_resource

READ, WRITE, SHARE = "READ", "WRITE", "SHARE"
ONLY_PER_REQUEST = "Operation is only permitted by per request API key"


def permissions(caller: Caller, url: str) -> set[str]:
    """Return the permissions of the caller on a resource or a folder."""
    bucket, key = bucket_of(url), caller.key
    if bucket == "public":
        is_admin = "admin" in caller.identity.roles and key is None
        return {READ, WRITE} if is_admin else {READ}
    if key is None:
        return {READ, WRITE, SHARE} if bucket == caller.identity.bucket else set()
    kind, _, path = url.partition("/")
    if bucket == key.bucket or covers(f"{key.appdata}/", path):
        return {READ, WRITE}
    found = {
        permission
        for granted, allowed in key.grants.items()
        if covers(granted, url)
        for permission in allowed
    }
    # An application may read its own entry, and use what its user may use.
    if kind in ("applications", "toolsets") and bucket == caller.identity.bucket:
        found.add(READ)
    return found


def need(caller: Caller, url: str, permission: str) -> None:
    """Check a permission. Raises `Refusal`."""
    if permission not in permissions(caller, url):
        raise Refusal(403, f"You don't have an access to: {url}")


async def grant(exchange: Exchange) -> Response:
    key, caller = per_request_key(exchange), exchange.caller
    receiver, resources = asked(exchange)
    if exchange.core.find(receiver) is None:
        raise Refusal(404, f"Deployment is not found: {receiver}")
    for url, wanted in resources.items():
        for permission in wanted:
            need(caller, url, permission)
    given = key.given.setdefault(receiver, {})
    for url, wanted in resources.items():
        given.setdefault(url, set()).update(wanted)
    return Response()


async def revoke(exchange: Exchange) -> Response:
    given = per_request_key(exchange).given
    receiver, resources = asked(exchange)
    for url, unwanted in resources.items():
        left = given.get(receiver, {}).get(url, set())
        left -= unwanted
        if not left:
            given.get(receiver, {}).pop(url, None)
    return Response()


async def list_grants(exchange: Exchange) -> Response:
    key = per_request_key(exchange)
    if exchange.json().get("with") == "OTHERS":
        receivers = [
            {"receiver": receiver, "resourcePermissions": listed(resources)}
            for receiver, resources in key.given.items()
            if resources
        ]
        return JSONResponse({"receivers": receivers})
    return JSONResponse({"resources": listed(key.grants)})


def listed(resources: dict[str, set[str]]) -> list[dict[str, Any]]:
    return [{"url": url, "permissions": sorted(found)} for url, found in resources.items()]


def per_request_key(exchange: Exchange) -> RequestKey:
    key = exchange.caller.key
    if key is None:
        raise Refusal(401, ONLY_PER_REQUEST)
    return key


def asked(exchange: Exchange) -> tuple[str, dict[str, set[str]]]:
    document = exchange.json()
    entries, receiver = document.get("resourcePermissions"), document.get("receiver")
    if not isinstance(entries, list) or not isinstance(receiver, str):
        raise Refusal(400, "resourcePermissions and receiver are required")
    resources = {}
    for entry in entries:
        url, wanted = canonical(entry["url"]), set(entry["permissions"])
        if not is_resource(url) or not wanted <= {READ, WRITE}:
            raise Refusal(400, f"Invalid resource or permissions: {url}")
        resources[url] = wanted
    return exchange.core.deployment_id(receiver), resources
