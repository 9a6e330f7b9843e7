"""The pages on which an operator tries the tools of a saved application.

They need the permission to change the application, because a call has the effects of a run's.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.buckets import caller_in
from apps.accounts.caller import Caller
from apps.accounts.sender_headers import locale_of
from apps.agent.tools import Tool
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.console.operated import seen
from apps.console.workbench.argument_form import arguments, fill, read_fields
from apps.console.workbench.parameters import example, indented, read_parameters
from apps.console.workbench.toolsets import ToolsetEntry, toolset_entries
from apps.console.workbench.trial_report import TrialReport, report_trial
from apps.errors import ApplicationBroken
from apps.runs.tool_trial import Offer, call, offer, resolve_saved

ALL = "all"
FRAGMENT = "X-Fragment"
"""Header of the script, which puts the outcome into the page that it is on."""

View = Callable[..., HttpResponse]


def for_application(view: View) -> View:
    """Give the view its row; show the problems of an application that cannot be resolved."""

    @wraps(view)
    def wrapper(request: HttpRequest, pk: int, **kwargs: str) -> HttpResponse:
        row = get_object_or_404(seen(request), pk=pk)
        if not admin.site.get_model_admin(Application).has_change_permission(request, row):
            raise PermissionDenied
        try:
            return view(request, row, **kwargs)
        except ApplicationBroken as error:
            context = {"problems": error.problems}
            return page(request, row, "toolsets", "Try a toolset", context)

    return wrapper


@require_safe
@for_application
def toolsets(request: HttpRequest, row: Application) -> HttpResponse:
    context = {"toolsets": toolset_entries(row, resolve_saved(row))}
    return page(request, row, "toolsets", "Try a toolset", context)


@require_safe
@for_application
def toolset(request: HttpRequest, row: Application, place: str) -> HttpResponse:
    """Asks the toolset's service for its tools, for a bounded time."""
    application, index = resolve_place(row, place)
    offered = async_to_sync(offer)(application, caller_of(request), index)
    shown = entry_at(row, application, index)
    title = f"Toolset {shown.name}" if shown is not None else "All toolsets together"
    context = {"place": place, "toolset": shown, "offered": offered, "groups": tool_groups(offered)}
    return page(request, row, "toolset", title, context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_application
def tool(request: HttpRequest, row: Application, place: str, name: str) -> HttpResponse:
    """A form for the arguments of one tool; a POST calls it."""
    application, index = resolve_place(row, place)
    caller = caller_of(request)
    offered = async_to_sync(offer)(application, caller, index)
    typed = request.POST if request.method == "POST" else None
    context = {
        "place": place,
        "toolset": entry_at(row, application, index),
        "offered": offered,
        **tool_context(application, caller, offered, name, typed),
    }
    if request.headers.get(FRAGMENT):
        return TemplateResponse(request, "admin/workbench/outcome.html", context)
    return page(request, row, "tool", name, context)


def tool_context(
    application: ResolvedApplication,
    caller: Caller,
    offered: Offer,
    name: str,
    typed: Mapping[str, str] | None,
) -> dict[str, Any]:
    """A form for the arguments of a tool, and the report on its call with what was `typed` there."""
    found = offered.find(name)
    schema, constants = (found.spec.parameters, found.constants) if found is not None else ({}, {})
    fields, raw = read_fields(schema, constants), example(schema)
    trial: TrialReport | None = None
    is_raw = typed is not None and typed.get("mode") == "json"
    if typed is not None:
        fields = fill(fields, typed)
        raw = typed.get("json", "").replace("\r\n", "\n")
        if is_raw or not any(field.error for field in fields):
            text = raw if is_raw else arguments(fields)
            trial = report_trial(async_to_sync(call)(application, caller, name, text))
    return {
        "tool": tool_details(found, offered) if found is not None else None,
        "name": name,
        "fields": fields,
        "raw": raw,
        "is_raw": is_raw,
        "trial": trial,
        "mistakes": [field for field in fields if field.error and not is_raw],
        "arguments": indented(trial.outcome.arguments) if trial is not None else "",
    }


def resolve_place(row: Application, place: str) -> tuple[ResolvedApplication, int | None]:
    """The application with one toolset, or with all. Raises Http404, `ApplicationBroken`."""
    try:
        index = None if place == ALL else int(place)
        return resolve_saved(row, index), index
    except (LookupError, ValueError):
        raise Http404("There is no such toolset.") from None


def caller_of(request: HttpRequest) -> Caller:
    locale = locale_of(request.headers.get(settings.PROXY_LANGUAGE_HEADER, ""))
    user_id = request.user.pk
    return caller_in(user_id, locale=locale)


def entry_at(
    row: Application, application: ResolvedApplication, index: int | None
) -> ToolsetEntry | None:
    return toolset_entries(row, application)[index] if index is not None else None


def tool_groups(offered: Offer) -> list[dict[str, Any]]:
    others = "What any run of this application has beside them"
    return [
        {"title": title, "tools": [tool_details(tool, offered) for tool in tools]}
        for title, tools in (("Tools", offered.tools), (others, offered.others))
        if tools
    ]


def tool_details(tool: Tool, offered: Offer) -> dict[str, Any]:
    spec = tool.spec
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": read_parameters(spec.parameters, tool.constants),
        "schema": indented(spec.parameters),
        "is_withheld": spec.name in offered.withheld,
        "is_hidden": spec.name in offered.hidden,
    }


def page(
    request: HttpRequest, row: Application, name: str, title: str, context: dict[str, Any]
) -> HttpResponse:
    rows: Any = admin.site.get_model_admin(Application)
    common = {"application": row, "change_url": rows.url("change", row.pk)}
    template = f"admin/workbench/{name}.html"
    answer: HttpResponse = rows.page(request, template, title, common | context)
    return answer
