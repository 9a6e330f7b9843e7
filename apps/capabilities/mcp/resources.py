"""Offers the resources of MCP servers: a list in the prompt, a tool that reads a resource, and
prefetching.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import mcp_types as types
from django.utils.translation import gettext_lazy
from mcp import Client

from apps.agent.injection import Injection, inject
from apps.agent.messages import ModelMessage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.mcp.calls.results import blob_of, store_attachments
from apps.capabilities.mcp.calls.sign_ins import ask_server
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.listings import read_resources
from apps.capabilities.mcp.toolsets.bindings import ToolsetBinding
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.attachments import see_files
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.internal import parameters, text_parameter
from apps.capabilities.wrappers.limits import RESULT_CHARACTERS
from apps.capabilities.wrappers.value_texts import one_line, shorten_text
from apps.errors import InitializationIssue, InvalidParameter

logger = logging.getLogger(__name__)

TOOL_NAME = "read_mcp_resource"
PARAMETERS = parameters(
    {
        "uri": text_parameter("The URI of the resource, as listed."),
        "toolset": text_parameter(
            "The name of the toolset that has the resource. Required only if several "
            "toolsets could have it."
        ),
    },
    "uri",
)
CARD_CHARACTERS = 500

Contents = Sequence[types.TextResourceContents | types.BlobResourceContents]


@dataclass(frozen=True, slots=True)
class ToolsetResources:
    """The resources of one toolset in a run."""

    binding: ToolsetBinding
    listed: tuple[types.Resource, ...]
    only: frozenset[str] | None = None
    """The URIs that the manifest allows, or None for all."""

    @property
    def toolset(self) -> Toolset:
        return self.binding.toolset

    def may_have(self, uri: str) -> bool:
        return self.only is None or uri in self.only

    def has(self, uri: str) -> bool:
        return any(resource.uri == uri for resource in self.listed)


async def list_resources(binding: ToolsetBinding) -> ToolsetResources | None:
    """Return the resources of a toolset, or None if the manifest does not enable them. Raises
    `ConnectionFailed` if they cannot be listed.
    """
    wanted = binding.toolset.resources
    if wanted is None or not wanted.enabled:
        return None
    listed = await binding.slot.cached("resources", binding.request_context(), read_resources)
    if wanted.items is None:
        return ToolsetResources(binding, listed)
    only = frozenset(item.uri for item in wanted.items)
    chosen = tuple(resource for resource in listed if resource.uri in only)
    # A resource may exist without being listed, so resources that the operator names are always
    # offered.
    unlisted = sorted(only - {resource.uri for resource in chosen})
    extra = tuple(types.Resource(uri=uri, name=uri) for uri in unlisted)
    return ToolsetResources(binding, (*chosen, *extra), only)


def resource_prompt(offered: Iterable[ToolsetResources]) -> str:
    """Return the part of the system prompt that lists the resources, or "" if there are none."""
    lines = [resource_line(one, resource) for one in offered for resource in one.listed]
    if not lines:
        return ""
    return f"Resources that the tool {TOOL_NAME} can read:\n\n" + "\n".join(lines)


def resource_line(resources: ToolsetResources, resource: types.Resource) -> str:
    name, uri = one_line(resource.title or resource.name), one_line(resource.uri, CARD_CHARACTERS)
    kind = f", {one_line(resource.mime_type)}" if resource.mime_type else ""
    about = one_line(resource.description or "", CARD_CHARACTERS)
    return f"- {resources.toolset.label}: {name} (URI: {uri}{kind}){': ' if about else ''}{about}"


@cache
def reading_arguments() -> Arguments:
    return read_arguments(PARAMETERS)


def reading_tool(offered: Sequence[ToolsetResources]) -> PreparedTool:
    """Return the tool that reads resources of all toolsets. Its options come from the first
    toolset.
    """
    first = offered[0].toolset
    options = ToolOptions(
        reading_arguments(),
        display_of(first.manifest, gettext_lazy("Read resource"), parameters=PARAMETERS),
        first.seconds,
        first.node.attachment,
        first.node.fallback_configuration,
        is_repeatable=True,
    )
    description = "Reads a resource of an MCP server."
    return prepared_tool(TOOL_NAME, description, partial(read, offered), options)


async def read(
    offered: Sequence[ToolsetResources], opening: Opening, invocation: Invocation
) -> ToolResult:
    """Return the contents of a resource. Raises `ToolError` if it cannot be read, and
    `InvalidParameter` if it is unknown.
    """
    uri = str(invocation.arguments["uri"])
    resources = find_toolset(offered, uri, str(invocation.arguments.get("toolset") or ""))
    toolset = resources.toolset

    async def question(client: Client) -> Contents:
        return (await client.read_resource(uri)).contents

    try:
        contents = await ask_server(resources.binding, opening, question)
    except ConnectionFailed as failure:
        raise toolset.refusal(failure, TOOL_NAME) from failure
    distrust(resources, opening)
    text = "\n\n".join(texts_in(contents))
    blobs = (blob_of(item) for item in contents if isinstance(item, types.BlobResourceContents))
    attachments, notes = await store_attachments(
        blobs, "resource", toolset.node.attachment, opening
    )
    content = "\n\n".join(filter(None, [text, *notes]))
    if attachments and not text:
        content = see_files(attachments)
    return ToolResult(content or "The resource is empty.", attachments=attachments)


def distrust(resources: ToolsetResources, opening: Opening) -> None:
    """Mark the run as having read untrusted content, if the server is declared untrusted."""
    if resources.toolset.node.is_untrusted:
        opening.taint.add(f"resources of {resources.toolset.label}")


def find_toolset(offered: Sequence[ToolsetResources], uri: str, name: str) -> ToolsetResources:
    """Return the toolset that has this resource. Raises `InvalidParameter` if no toolset or several
    toolsets have it.
    """
    named = [one for one in offered if not name or one.toolset.label == name]
    if not named:
        known = ", ".join(repr(one.toolset.label) for one in offered)
        raise InvalidParameter(
            "toolset", f"unknown toolset {one_line(name)!r}; use one of {known}."
        )
    able = [one for one in named if one.has(uri)] or [one for one in named if one.may_have(uri)]
    if not able:
        raise InvalidParameter("uri", "it is not a readable resource.")
    if len(able) > 1:
        known = ", ".join(repr(one.toolset.label) for one in able)
        raise InvalidParameter("toolset", f"it is ambiguous; use one of {known}.")
    return able[0]


def texts_in(contents: Contents) -> list[str]:
    return [item.text for item in contents if isinstance(item, types.TextResourceContents)]


async def read_eager(
    resources: ToolsetResources,
) -> tuple[list[Injection], list[InitializationIssue]]:
    """Read the prefetched resources of a toolset. Return an injection for each resource, and an
    issue for each failure. An injection looks as if the model had read the resource.
    """
    wanted, label = resources.toolset.resources, resources.toolset.label
    found: list[Injection] = []
    issues: list[InitializationIssue] = []
    for item in (wanted.items if wanted is not None else None) or ():
        if not item.eager:
            continue
        try:
            text = await eager_text(item.uri, resources.binding)
        except ConnectionFailed as failure:
            issue = f"Resource {item.uri}: {failure.message(label)}"
            issues.append(InitializationIssue(issue, details=failure.details, is_hard=False))
        else:
            if text:
                found.append(read_ahead(label, item.uri, text))
    return found, issues


def read_ahead(toolset: str, uri: str, text: str) -> Injection:
    """Return an injection of the resource's text. The run skips the injection if the conversation
    already contains this version of the text.
    """
    arguments = {"uri": uri, "toolset": toolset}
    shown = shorten_text(text, RESULT_CHARACTERS)
    return Injection(TOOL_NAME, arguments, shown, "append_if_changed")


async def eager_text(uri: str, binding: ToolsetBinding) -> str:
    async def question(client: Client) -> str:
        contents = (await client.read_resource(uri)).contents
        found = texts_in(contents)
        if len(found) < len(contents):
            logger.warning(
                "Resource %s: skipped content that is not text, because only text can be "
                "prefetched",
                uri,
            )
        return "\n\n".join(found)

    return await binding.slot.cached(("resource", uri), binding.request_context(), question)


async def inject_all(
    injections: Sequence[Injection], messages: Sequence[ModelMessage]
) -> Sequence[ModelMessage]:
    for one in injections:
        messages = inject(messages, one)
    return messages
