"""Finds the tools that are withheld from models because their server changed the descriptions."""

import hashlib
import json
import math
from collections.abc import Mapping
from urllib.parse import urlsplit

import mcp_types as types
from channels.db import database_sync_to_async
from django.conf import settings

from apps import process_state
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.listings import Listing
from apps.capabilities.mcp.sessions.slots import CACHE_SECONDS
from apps.capabilities.mcp.toolsets.bindings import ToolsetBinding
from apps.manifest.kinds.mcp import McpToolSet
from apps.process_state import AgedCache
from apps.workspace.local.tools.description_pins import (
    DescribedTool,
    DescriptionSource,
    withheld_of,
)

NOTHING: Mapping[str, str] = {}
_kept = AgedCache[tuple[DescriptionSource, str], Mapping[str, str]]()


async def withheld_tools(binding: ToolsetBinding, listing: Listing) -> Mapping[str, str]:
    """Map the names of withheld tools to the state of their review: pending or rejected.

    Tools from DIAL Core's toolsets and built-in programs are never withheld: DIAL Core reviews the
    descriptions itself, and built-in programs are trusted.
    """
    program = binding.endpoint.program
    is_trusted = program is not None and program.is_built_in
    is_ours_to_look_at = isinstance(binding.toolset.node, McpToolSet) and not is_trusted
    if not settings.MCP_PINNED_DESCRIPTIONS or not is_ours_to_look_at:
        return NOTHING
    key = source_of(binding), listing.fingerprint
    # A withheld tool is checked again soon, so that it is offered again after an operator accepts
    # it.
    waits = bool(_kept.get(key, math.inf))
    seconds = process_state.MAX_AGE_SECONDS if waits else CACHE_SECONDS
    found = await _kept.renewed(
        key, seconds, lambda known: database_sync_to_async(look_up)(key[0], listing)
    )
    return found or NOTHING


def look_up(source: DescriptionSource, listing: Listing) -> Mapping[str, str]:
    first = {tool.name: tool for tool in reversed(listing.tools)}
    return withheld_of(source, [describe_tool(tool) for tool in first.values()])


def source_of(binding: ToolsetBinding) -> DescriptionSource:
    """Return the source under which a server's tool descriptions are pinned.

    All callers share one source, unless their own headers are sent to the server. Callers without a
    bucket always share it, because a pin for only one run would have no effect.
    """
    endpoint = binding.endpoint
    is_own = bool(endpoint.carried) and not binding.is_private
    key = hashlib.sha256(json.dumps(identity(endpoint)).encode()).hexdigest()
    return DescriptionSource(key, server_name(endpoint), binding.bucket if is_own else "")


def identity(endpoint: ServerEndpoint) -> list[str]:
    """Return the values that identify a server, including the arguments of a program."""
    program = endpoint.program
    if program is None:
        return ["address", endpoint.url]
    return ["program", program.name, program.command, *program.arguments]


def server_name(endpoint: ServerEndpoint) -> str:
    """Return a program's name, or a URL's host. The rest of the URL may contain a secret."""
    program = endpoint.program
    return urlsplit(endpoint.url).netloc if program is None else program.name


def describe_tool(tool: types.Tool) -> DescribedTool:
    told = tool.annotations
    annotations = told.model_dump(mode="json", exclude_none=True) if told is not None else {}
    seen = [tool.name, tool.title, tool.description, annotations, tool.input_schema]
    digest = hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
    parts = [
        f"Title: {tool.title or ''}",
        f"Description:\n{tool.description or ''}",
        f"Annotations: {indent_json(annotations)}",
        f"Input schema: {indent_json(tool.input_schema)}",
    ]
    return DescribedTool(tool.name, digest, "\n\n".join(parts))


def indent_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
