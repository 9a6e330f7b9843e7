"""Types of applications whose service describes their properties."""

from __future__ import annotations

from typing import Any

import httpx

from tests.dial_core.core import Core

ENDPOINT = "dial:applicationTypeSchemaEndpoint"
FETCHED = ("$defs", "type", "title", "properties", "required")


def is_incomplete(schema: dict[str, Any]) -> bool:
    return ENDPOINT in schema and "properties" not in schema


async def complete(core: Core) -> None:
    """Fetch what is missing. A service that does not answer is called again next time."""
    for schema in core.configuration.schemas.values():
        if not is_incomplete(schema):
            continue
        core.note_sent("GET", schema[ENDPOINT], {}, b"")
        try:
            response = await next(core.clients).get(schema[ENDPOINT])
            fetched = response.raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            continue
        schema.update({name: fetched[name] for name in FETCHED if name in fetched})
