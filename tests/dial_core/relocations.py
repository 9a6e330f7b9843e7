"""Copy and move resources. Any problem with the source or the target is a 400 with a text."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from tests.dial_core.exchange import Exchange
from tests.dial_core.permissions import READ, WRITE, need
from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import canonical, is_resource


async def copy(exchange: Exchange) -> Response:
    relocate(exchange, READ, "copy")
    return Response()


async def move(exchange: Exchange) -> Response:
    source = relocate(exchange, WRITE, "move")
    del exchange.core.storage.items[source]
    return Response()


def relocate(exchange: Exchange, permission: str, operation: str) -> str:
    core, caller, fields = exchange.core, exchange.caller, exchange.json()
    source, destination = (canonical(fields[name]) for name in ("sourceUrl", "destinationUrl"))
    if not is_resource(source) or not is_resource(destination):
        raise Refusal(400, "Invalid resource url provided")
    if source.split("/")[0] != destination.split("/")[0] or source == destination:
        raise Refusal(400, "Source and destination resources must be of the same type and differ")
    need(caller, source, permission)
    need(caller, source, READ)
    need(caller, destination, WRITE)
    item = core.storage.items.get(source)
    if item is None:
        raise Refusal(400, f"Source resource {source} does not exist")
    if destination in core.storage.items and not fields.get("overwrite", False):
        taken = "because destination resource already exists"
        raise Refusal(400, f"Can't {operation} resource {source} to {destination}, {taken}")
    core.storage.items[destination] = replace(item, url=destination)
    return source
