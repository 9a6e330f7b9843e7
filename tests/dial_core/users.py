"""The caller's identity and bucket, and the types of applications."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from tests.dial_core.exchange import Exchange
from tests.dial_core.refusals import Refusal

VERSION = "0.47.0"


async def bucket(exchange: Exchange) -> Response:
    caller = exchange.caller
    if caller.key is None:
        return JSONResponse({"bucket": caller.bucket})
    return JSONResponse({"bucket": caller.bucket, "appdata": caller.key.appdata})


async def info(exchange: Exchange) -> Response:
    """Return the user. With a per-request key, return its initiator."""
    identity = exchange.caller.identity
    if not identity.is_user:
        return JSONResponse({"roles": identity.roles, "project": identity.name})
    claims = {"sub": [identity.name], "roles": list(identity.roles)}
    found = {"roles": identity.roles, "userId": identity.name, "userClaims": claims}
    return JSONResponse({**found, "userDisplayName": identity.name})


async def schemas(exchange: Exchange) -> Response:
    _ = exchange.caller
    parts = ("DisplayName", "IconUrl", "EditorUrl", "ViewerUrl")
    shown = ["$id", *(f"dial:applicationType{part}" for part in parts)]
    found = exchange.core.configuration.schemas.values()
    return JSONResponse([{n: schema[n] for n in shown if n in schema} for schema in found])


async def schema(exchange: Exchange) -> Response:
    _ = exchange.caller
    found = exchange.core.configuration.schemas.get(exchange.request.query_params.get("id", ""))
    if found is None:
        raise Refusal(404, "Schema not found")
    return JSONResponse(found)


async def meta_schema(exchange: Exchange) -> Response:
    _ = exchange.caller
    required = ["$id", "dial:applicationTypeDisplayName", "dial:applicationTypeCompletionEndpoint"]
    found: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://dial.epam.com/application_type_schemas/schema#",
        "type": "object",
        "required": required,
    }
    return JSONResponse(found)


async def health(exchange: Exchange) -> Response:
    return JSONResponse({"status": "UP"})


async def version(exchange: Exchange) -> Response:
    return PlainTextResponse(VERSION)
