"""Serves the studio's section for tools: sources of new tools, and facts about existing ones."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from apps.accounts.buckets import bucket_of
from apps.catalog.credentials.masking import restore_credentials
from apps.catalog.models import Application
from apps.console.studio.access import application_seen, for_editors
from apps.console.studio.predefined_tools import predefined_toolsets
from apps.console.studio.registered_servers import server_of_template
from apps.console.studio.tool_cards import toolset_cards
from apps.console.studio.tool_sources.curl_command import read_curl
from apps.console.studio.tool_sources.mcp_tools import server_tools
from apps.console.studio.tool_sources.openapi import read_service
from apps.console.studio.tool_sources.source_texts import SourceInvalid, fetch_source, read_source
from apps.console.studio.typed_draft import body_of, large_body_of, typed_in
from apps.console.studio.working_copy import draft_sources

UNPROCESSABLE = 422
View = Callable[[HttpRequest, Application], HttpResponse]


def with_sources(view: View) -> Any:
    """Wrap a view so that only editors can use it. If a source yields no tools, the response
    contains the reason.
    """

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
    """Return the operations of an OpenAPI document. The request contains the document or its URL."""
    body = large_body_of(request)
    address = str(body.get("url") or "").strip()
    text = fetch_source(address) if address else str(body.get("text") or "")
    return JsonResponse(asdict(read_service(read_source(text), address)))


@with_sources
def curl(request: HttpRequest, row: Application) -> HttpResponse:
    return JsonResponse(asdict(read_curl(str(body_of(request).get("text") or ""))))


@with_sources
def mcp_tools(request: HttpRequest, row: Application) -> HttpResponse:
    """Connect to an MCP server as the user, and return its tools. The request contains the
    `server`, or a registered server's name as `template`.
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
