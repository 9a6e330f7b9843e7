"""What the studio's section of tools asks: where tools come from, and what is known of those there are."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from apps.accounts.buckets import bucket_of
from apps.catalog.masking import put_back
from apps.catalog.models import Application
from apps.catalog.versions.drafts import as_written
from apps.console.studio.access import application_seen, for_editors
from apps.console.studio.predefined_tools import predefined_toolsets
from apps.console.studio.registered_servers import server_of_template
from apps.console.studio.tool_cards import toolset_cards
from apps.console.studio.tool_sources.curl_command import read_curl
from apps.console.studio.tool_sources.fetched_sources import fetch_source
from apps.console.studio.tool_sources.mcp_tools import server_tools
from apps.console.studio.tool_sources.openapi import read_service
from apps.console.studio.tool_sources.source_texts import SourceInvalid, read_source
from apps.console.studio.typed import body_of, large_body_of, typed_in
from apps.console.studio.working_copy import DraftRefused, sources_of, whole_document
from apps.console.workbench.draft_trial import trial_of_draft
from apps.errors import ApplicationBroken

UNPROCESSABLE = 422
View = Callable[[HttpRequest, Application], HttpResponse]


def with_sources(view: View) -> Any:
    """For editors; what no tools can be made of is answered with its reason."""

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
    """The operations of the document that is sent, or that is at an address."""
    body = large_body_of(request)
    address = str(body.get("url") or "").strip()
    text = fetch_source(address) if address else str(body.get("text") or "")
    return JsonResponse(asdict(read_service(read_source(text), address)))


@with_sources
def curl(request: HttpRequest, row: Application) -> HttpResponse:
    return JsonResponse(asdict(read_curl(str(body_of(request).get("text") or ""))))


@with_sources
def mcp_tools(request: HttpRequest, row: Application) -> HttpResponse:
    """Connect to a server, or to the one that is registered under the name `template`, as the person
    who asks.
    """
    body = body_of(request)
    if name := body.get("template"):
        registered = server_of_template(str(name))
        if registered is None:
            raise SourceInvalid(f"There is no registered server {str(name)[:100]!r}.")
        # Where it is, and its credential, stay on this server.
        listed = server_tools(registered, bucket_of(request.user.pk))
        return JsonResponse({**asdict(listed), "server": {}})
    found = put_back(body.get("server"), sources_of(row))
    if found.problems:
        raise SourceInvalid(f"{found.problems[0]}.")
    return JsonResponse(asdict(server_tools(found.document, bucket_of(request.user.pk))))


@require_safe
def predefined(request: HttpRequest, pk: int) -> JsonResponse:
    application_seen(request, pk)
    return JsonResponse({"toolsets": predefined_toolsets()})


@for_editors
def cards(request: HttpRequest, row: Application) -> JsonResponse:
    typed = typed_in(body_of(request))
    found = toolset_cards(typed.document, row.slug)
    return JsonResponse({"cards": [asdict(one) for one in found]})


@for_editors
def trial(request: HttpRequest, row: Application) -> HttpResponse:
    """A toolset of the draft opened, or one of its tools called, as a part of the page."""
    body = body_of(request)
    typed = typed_in(body)
    try:
        document = whole_document(typed, sources_of(row))
        values = {"title": typed.title, "manifest": document, "own_skills": typed.skills}
        draft = as_written(row, values)
        context = trial_of_draft(request, draft, body)
    except DraftRefused as error:
        context = {"problems": [f"{one.path}: {one.message}" for one in error.findings]}
    except ApplicationBroken as error:
        context = {"problems": error.problems}
    return TemplateResponse(request, "admin/studio/trial.html", context)
