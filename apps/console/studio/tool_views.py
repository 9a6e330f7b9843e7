"""Serves the studio's section for tools: the sources of new tools, and the cards of toolsets."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from apps.accounts.caller import bucket_of
from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.content.titles import title_of
from apps.catalog.credentials.masking import restore_credentials
from apps.catalog.models import Application
from apps.console.studio.access import application_seen, for_editors
from apps.console.studio.registered_servers import server_of_template
from apps.console.studio.tool_cards import (
    text_of,
    tool_name,
    tool_names,
    toolset_cards,
    toolset_title,
)
from apps.console.studio.tool_sources.curl_command import read_curl
from apps.console.studio.tool_sources.mcp_tools import server_tools
from apps.console.studio.tool_sources.openapi import read_service
from apps.console.studio.tool_sources.source_texts import SourceInvalid, fetch_source, read_source
from apps.console.studio.typed_draft import body_of, large_body_of, typed_in
from apps.console.studio.working_copy import draft_sources
from apps.manifest.toolsets.kinds import KINDS, WRITTEN, tool_types

UNPROCESSABLE = 422
View = Callable[[HttpRequest, Application], HttpResponse]
TOOLSETS = {tool_types(schema)[0]: name for name, schema in KINDS.items() if schema in WRITTEN}
"""The type of toolset that can contain a tool, by the type of the tool."""


def with_sources(view: View) -> Any:
    """Wrap a view for editors of the application. Convert `SourceInvalid` to status 422."""

    @for_editors
    @wraps(view)
    def wrapper(request: HttpRequest, row: Application) -> HttpResponse:
        try:
            return view(request, row)
        except SourceInvalid as error:
            return JsonResponse({"message": str(error)}, status=UNPROCESSABLE)

    return wrapper


@with_sources
def openapi(request: HttpRequest, row: Application) -> HttpResponse:
    """Return the operations of the OpenAPI document in `text` or at `url`."""
    body = large_body_of(request)
    address = str(body.get("url") or "").strip()
    text = fetch_source(address) if address else str(body.get("text") or "")
    return JsonResponse(asdict(read_service(read_source(text), address)))


@with_sources
def curl(request: HttpRequest, row: Application) -> HttpResponse:
    return JsonResponse(asdict(read_curl(str(body_of(request).get("text") or ""))))


@with_sources
def mcp_tools(request: HttpRequest, row: Application) -> HttpResponse:
    """Connect to an MCP server as the user, and return its tools. The server is `server` in the
    request, or the registered server with the name `template`.
    """
    body = body_of(request)
    if name := body.get("template"):
        registered = server_of_template(str(name))
        if registered is None:
            raise SourceInvalid(f"Unknown registered server: {str(name)[:100]!r}.")
        # The address and the credential are not sent to the page.
        listed = server_tools(registered, bucket_of(request.user.pk))
        return JsonResponse({**asdict(listed), "server": {}})
    found = restore_credentials(body.get("server"), draft_sources(row))
    if found.problems:
        raise SourceInvalid(f"{found.problems[0]}.")
    return JsonResponse(asdict(server_tools(found.document, bucket_of(request.user.pk))))


@require_safe
def list_predefined(request: HttpRequest, pk: int) -> JsonResponse:
    application_seen(request, pk)
    return JsonResponse({"toolsets": predefined_toolsets()})


@for_editors
def cards(request: HttpRequest, row: Application) -> JsonResponse:
    typed = typed_in(body_of(request))
    found = toolset_cards(typed.manifest, row.slug)
    return JsonResponse({"cards": [asdict(one) for one in found]})


def predefined_toolsets() -> list[dict[str, Any]]:
    """Describe the predefined toolsets, followed by the predefined tools that no toolset contains."""
    content = installed_content()
    toolsets = list(described_toolsets(content))
    covered = {name for one in toolsets for name in one.pop("covers")}
    return [*toolsets, *described_tools(content, covered)]


def described_toolsets(content: Content) -> Iterator[dict[str, Any]]:
    for template, item in sorted(content.items["toolset"].items()):
        if item.problem or not isinstance(item.value, dict):
            continue
        tools = item.value.get("tools") or ()
        yield {
            "title": toolset_title(item.value) or template,
            "description": describe_item(item),
            "kind": str(item.value.get("type") or ""),
            "tools": tool_names(item.value, content),
            "covers": [tool.get("template_name") for tool in tools if isinstance(tool, dict)],
            "toolset": {"type": "predefined", "template_name": template},
        }


def described_tools(content: Content, covered: set[Any]) -> Iterator[dict[str, Any]]:
    for template, item in sorted(content.items["tool"].items()):
        value = item.value
        if item.problem or template in covered or not isinstance(value, dict):
            continue
        kind = TOOLSETS.get(str(value.get("type")))
        if kind is None:
            continue
        tool = {"type": "predefined-tool", "template_name": template}
        yield {
            "title": title_of(item),
            "description": describe_item(item),
            "kind": kind,
            "tools": [tool_name(value, content)],
            "toolset": {"type": kind, "name": template, "tools": [tool]},
        }


def describe_item(item: LayerItem) -> str:
    """Return the description of a toolset or tool, or else that of the tool's function, or else
    "".
    """
    value = item.value
    told = value.get("open_ai_tool")
    function = told.get("function") if isinstance(told, dict) else None
    words = value.get("description") or (function or {}).get("description") or ""
    return text_of(words)
