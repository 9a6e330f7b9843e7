"""Resources of servers: cards in the prompt, a tool that reads one, and those that are read ahead."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import mcp_types as types
from mcp import Client

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.mcp.failures import ConnectionFailed
from apps.capabilities.mcp.lines import Line
from apps.capabilities.mcp.listings import read_resources
from apps.capabilities.mcp.results import blob_of, keep
from apps.capabilities.mcp.sign_ins import ask
from apps.capabilities.mcp.toolsets import Toolset
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import one_line
from apps.errors import InitializationIssue, InvalidParameter
from apps.manifest.parameters import FunctionParameters, SimpleParameter
from apps.manifest.toolsets import McpResource

logger = logging.getLogger(__name__)

TOOL_NAME = "read_mcp_resource"
PARAMETERS = FunctionParameters(
    type="object",
    properties={
        "uri": SimpleParameter(type="string", description="URI of the resource, as it is listed."),
        "toolset": SimpleParameter(
            type="string",
            description="Name of the toolset that has it. Only needed when several could.",
        ),
    },
    required=("uri",),
)
CARD_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Shelf:
    """The resources of one toolset in one run; `only` are the URIs that may be read, if limited."""

    line: Line
    resources: tuple[types.Resource, ...]
    only: frozenset[str] | None = None

    @property
    def toolset(self) -> Toolset:
        return self.line.toolset

    def may_have(self, uri: str) -> bool:
        return self.only is None or uri in self.only

    def has(self, uri: str) -> bool:
        return any(resource.uri == uri for resource in self.resources)


@dataclass(frozen=True, slots=True)
class EagerText:
    """A resource that the model is to know before it is asked anything."""

    toolset: str
    uri: str
    text: str


async def open_shelf(line: Line) -> Shelf | None:
    """None when the manifest wants no resources. Raises `ConnectionFailed`."""
    wanted = line.toolset.resources
    if wanted is None or not wanted.enabled:
        return None
    listed = await line.contact.known("resources", line.errand(), read_resources)
    if wanted.items is None:
        return Shelf(line, listed)
    only = frozenset(item.uri for item in wanted.items)
    chosen = tuple(resource for resource in listed if resource.uri in only)
    # A resource may exist without being listed; what the operator named is offered anyway.
    unlisted = sorted(only - {resource.uri for resource in chosen})
    extra = tuple(types.Resource(uri=uri, name=uri) for uri in unlisted)
    return Shelf(line, (*chosen, *extra), only)


def cards(shelves: Iterable[Shelf]) -> str:
    """The part of the system prompt that lists what can be read; "" if there is nothing."""
    lines = [card(shelf, resource) for shelf in shelves for resource in shelf.resources]
    if not lines:
        return ""
    return f"Resources that the tool {TOOL_NAME} can read:\n\n" + "\n".join(lines)


def card(shelf: Shelf, resource: types.Resource) -> str:
    name, uri = one_line(resource.title or resource.name), one_line(resource.uri, CARD_CHARACTERS)
    kind = f", {one_line(resource.mime_type)}" if resource.mime_type else ""
    about = one_line(resource.description or "", CARD_CHARACTERS)
    return f"- {shelf.toolset.label}: {name} (URI: {uri}{kind}){': ' if about else ''}{about}"


@cache
def reading_arguments() -> Arguments:
    return read_arguments(PARAMETERS)


def reading_tool(shelves: Sequence[Shelf]) -> PreparedTool:
    """One tool for all toolsets, with the wishes of the first."""
    first = shelves[0].toolset
    arguments = reading_arguments()

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        return await read(shelves, opening, invocation)

    return wrapped(
        PreparedTool(
            ToolSpec(TOOL_NAME, "Reads a resource of an MCP server.", arguments.schema), work
        ),
        Wishes(
            arguments,
            display_of(first.manifest, "Read resource", parameters=PARAMETERS),
            first.seconds,
            first.node.attachment,
            first.node.fallback_configuration,
            is_repeatable=True,
        ),
    )


async def read(shelves: Sequence[Shelf], opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `ToolError`, `InvalidParameter`."""
    uri = str(invocation.arguments["uri"])
    shelf = find_shelf(shelves, uri, str(invocation.arguments.get("toolset") or ""))
    toolset = shelf.toolset
    try:
        contents = await fetch(shelf.line, opening, uri)
    except ConnectionFailed as failure:
        raise toolset.refusal(failure, TOOL_NAME) from failure
    text = "\n\n".join(text_of(contents))
    blobs = (blob_of(item) for item in contents if isinstance(item, types.BlobResourceContents))
    attachments, notes = await keep(blobs, "resource", toolset.node.attachment, opening)
    content = "\n\n".join(filter(None, [text, *notes]))
    if attachments and not text:
        content = f"See attached files: {', '.join(item.title for item in attachments)}"
    return ToolResult(content or "The resource is empty.", attachments=attachments)


def find_shelf(shelves: Sequence[Shelf], uri: str, name: str) -> Shelf:
    """Raises `InvalidParameter`."""
    named = [shelf for shelf in shelves if not name or shelf.toolset.label == name]
    if not named:
        known = ", ".join(repr(shelf.toolset.label) for shelf in shelves)
        raise InvalidParameter("toolset", f"there is no {one_line(name)!r}; choose one of {known}.")
    able = [shelf for shelf in named if shelf.has(uri)] or [
        shelf for shelf in named if shelf.may_have(uri)
    ]
    if not able:
        raise InvalidParameter("uri", "it is not among the resources that can be read.")
    if len(able) > 1:
        known = ", ".join(repr(shelf.toolset.label) for shelf in able)
        raise InvalidParameter("toolset", f"several could have it; choose one of {known}.")
    return able[0]


Contents = Sequence[types.TextResourceContents | types.BlobResourceContents]


async def fetch(line: Line, opening: Opening, uri: str) -> Contents:
    async def question(client: Client) -> types.ReadResourceResult:
        return await client.read_resource(uri)

    return (await ask(line, opening, question)).contents


def text_of(contents: Contents) -> list[str]:
    return [item.text for item in contents if isinstance(item, types.TextResourceContents)]


async def read_eager(shelf: Shelf) -> tuple[list[EagerText], list[InitializationIssue]]:
    """The resources that are read ahead, remembered for as long as the lists are."""
    wanted = shelf.toolset.resources
    items = wanted.items if wanted is not None else None
    texts: list[EagerText] = []
    issues: list[InitializationIssue] = []
    for item in items or ():
        if not item.eager:
            continue
        try:
            text = await eager_text(item, shelf.line)
        except ConnectionFailed as failure:
            issue = f"Resource {item.uri}: {failure.told(shelf.toolset.label)}"
            issues.append(InitializationIssue(issue, details=failure.details, is_hard=False))
        else:
            if text:
                texts.append(EagerText(shelf.toolset.label, item.uri, text))
    return texts, issues


async def eager_text(item: McpResource, line: Line) -> str:
    async def question(client: Client) -> str:
        result = await client.read_resource(item.uri)
        found = text_of(result.contents)
        if len(found) < len(result.contents):
            logger.warning("Resource %s: only text can be read ahead", item.uri)
        return "\n\n".join(found)

    return await line.contact.known(("resource", item.uri), line.errand(), question)
