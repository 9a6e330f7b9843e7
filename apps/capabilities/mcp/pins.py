"""Tools that models may not be shown, because a server changed their descriptions."""

import hashlib
import json
import math
from collections.abc import Mapping
from urllib.parse import urlsplit

import mcp_types as types
from channels.db import database_sync_to_async
from django.conf import settings

from apps.aged_cache import AgedCache
from apps.capabilities.mcp.bindings import ToolsetBinding
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.listings import Listing
from apps.capabilities.mcp.session_slots import KEPT_SECONDS
from apps.manifest.mcp_toolsets import McpToolSet
from apps.workspace.local.description_pins import Described, Source, withheld_of

NOTHING: Mapping[str, str] = {}
_kept = AgedCache[tuple[Source, str], Mapping[str, str]]()


def forget() -> None:
    _kept.clear()


async def withheld_tools(binding: ToolsetBinding, listing: Listing) -> Mapping[str, str]:
    """The tools of a listing that wait for an operator, or that one withholds, by their state.

    Those of DIAL Core's toolsets are Core's to look at, and programs that come with us are not
    others' words.
    """
    program = binding.endpoint.program
    is_trusted = program is not None and program.is_built_in
    is_ours_to_look_at = isinstance(binding.toolset.node, McpToolSet) and not is_trusted
    if not settings.MCP_PINNED_DESCRIPTIONS or not is_ours_to_look_at:
        return NOTHING
    key = source_of(binding), listing.fingerprint
    # What waits for an operator is asked for again soon, so that it comes back once accepted.
    waits = bool(_kept.get(key, math.inf))
    seconds = settings.CATALOG_MAX_AGE_SECONDS if waits else KEPT_SECONDS
    found = await _kept.renewed(
        key, seconds, lambda known: database_sync_to_async(look_up)(key[0], listing)
    )
    return found or NOTHING


def look_up(source: Source, listing: Listing) -> Mapping[str, str]:
    first = {tool.name: tool for tool in reversed(listing.tools)}
    return withheld_of(source, [described(tool) for tool in first.values()])


def source_of(binding: ToolsetBinding) -> Source:
    """Callers share a listing unless their own headers go to the server: by nothing else can it
    tell them apart. One without a name shares it too; pinned for each run, nothing would be.
    """
    endpoint = binding.endpoint
    is_own = bool(endpoint.carried) and not binding.is_private
    key = hashlib.sha256(json.dumps(identity(endpoint)).encode()).hexdigest()
    return Source(key, server_name(endpoint), binding.bucket if is_own else "")


def identity(endpoint: Endpoint) -> list[str]:
    """A program that is started in another way is another server; an operator decided so."""
    program = endpoint.program
    if program is None:
        return ["address", endpoint.url]
    return ["program", program.name, program.command, *program.arguments]


def server_name(endpoint: Endpoint) -> str:
    """A program's name or a host: the rest of an address may be a secret."""
    program = endpoint.program
    return urlsplit(endpoint.url).netloc if program is None else program.name


def described(tool: types.Tool) -> Described:
    told = tool.annotations
    annotations = told.model_dump(mode="json", exclude_none=True) if told is not None else {}
    seen = [tool.name, tool.title, tool.description, annotations, tool.input_schema]
    digest = hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
    parts = [
        f"Title: {tool.title or ''}",
        f"Description:\n{tool.description or ''}",
        f"Annotations: {indented(annotations)}",
        f"Input schema: {indented(tool.input_schema)}",
    ]
    return Described(tool.name, digest, "\n\n".join(parts))


def indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
