"""The pages on which an operator tries the tools of an application, as it is saved.

They are for whoever may change the application: a call does what a run would do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.authentication import locale_of
from apps.accounts.caller import Caller
from apps.agent.tools import Tool
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication
from apps.console.workbench.fields import arguments, example, fill, read_fields
from apps.console.workbench.outcomes import ShownTrial, shown_trial
from apps.console.workbench.schemas import indented, read_parameters
from apps.console.workbench.toolsets import Row, rows
from apps.errors import ApplicationBroken
from apps.runs.tool_trial import Offer, call, offer, resolve_saved

ALL = "all"
FRAGMENT = "X-Fragment"
"""Sent by the script, which puts the outcome into the page that is there."""


@require_safe
def toolsets(request: HttpRequest, pk: int) -> HttpResponse:
    row = find(request, pk)
    try:
        application = resolve_saved(row)
    except ApplicationBroken as error:
        return page(request, row, "toolsets", "Try a toolset", {"problems": error.problems})
    context = {"toolsets": rows_of(row, application)}
    return page(request, row, "toolsets", "Try a toolset", context)


@require_safe
def toolset(request: HttpRequest, pk: int, place: str) -> HttpResponse:
    """What a toolset offers now. Asks its service, for a bounded time."""
    row = find(request, pk)
    try:
        application, index = resolve_place(row, place)
    except ApplicationBroken as error:
        return page(request, row, "toolsets", "Try a toolset", {"problems": error.problems})
    offered = async_to_sync(offer)(application, caller_of(request), index)
    shown = chosen(row, application, index)
    context = {
        "place": place,
        "toolset": shown,
        "groups": groups(offered),
        "issues": offered.issues,
        "count": len(offered.tools),
    }
    return page(request, row, "toolset", title_of(shown), context)


@require_http_methods(["GET", "HEAD", "POST"])
def tool(request: HttpRequest, pk: int, place: str, name: str) -> HttpResponse:
    """A form for the arguments of one tool; a POST calls it."""
    row = find(request, pk)
    try:
        application, index = resolve_place(row, place)
    except ApplicationBroken as error:
        return page(request, row, "toolsets", "Try a toolset", {"problems": error.problems})
    caller = caller_of(request)
    offered = async_to_sync(offer)(application, caller, index)
    found = offered.find(name)
    schema: Mapping[str, Any] = found.spec.parameters if found is not None else {}
    fields = read_fields(schema, found.constants if found is not None else {})
    raw = example(schema)
    trial: ShownTrial | None = None
    is_raw = request.POST.get("mode") == "json"
    if request.method == "POST":
        fields = fill(fields, request.POST)
        raw = request.POST.get("json", "").replace("\r\n", "\n")
        if is_raw or not any(field.error for field in fields):
            text = raw if is_raw else arguments(fields)
            trial = shown_trial(async_to_sync(call)(application, caller, name, text))
    context = {
        "place": place,
        "toolset": chosen(row, application, index),
        "tool": entry(found, offered) if found is not None else None,
        "name": name,
        "issues": offered.issues,
        "fields": fields,
        "raw": raw,
        "is_raw": is_raw,
        "trial": trial,
        "mistakes": [field for field in fields if field.error and not is_raw],
        "arguments": indented(trial.outcome.arguments) if trial is not None else "",
    }
    if request.headers.get(FRAGMENT):
        return TemplateResponse(request, "admin/workbench/outcome.html", context)
    return page(request, row, "tool", name, context)


def find(request: HttpRequest, pk: int) -> Application:
    """Raises Http404, PermissionDenied."""
    row = get_object_or_404(Application, pk=pk)
    if not admin.site.get_model_admin(Application).has_change_permission(request, row):
        raise PermissionDenied
    return row


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
    return Caller(f"user-{user_id}", "user", user_id=user_id, locale=locale)


def rows_of(row: Application, application: ResolvedApplication) -> list[Row]:
    return rows(row.manifest["tool_sets"], application.manifest.tool_sets)


def chosen(row: Application, application: ResolvedApplication, index: int | None) -> Row | None:
    """The toolset of the page; None for all of them."""
    return rows_of(row, application)[index] if index is not None else None


def title_of(toolset: Row | None) -> str:
    return f"Toolset {toolset.name}" if toolset is not None else "All toolsets together"


def groups(offered: Offer) -> list[dict[str, Any]]:
    return [
        {"title": title, "tools": [entry(tool, offered) for tool in tools]}
        for title, tools in (
            ("Tools", offered.tools),
            ("What any run of this application has beside them", offered.others),
        )
        if tools
    ]


def entry(tool: Tool, offered: Offer) -> dict[str, Any]:
    """A tool as the pages show it."""
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
    links = {
        "change_url": reverse("admin:catalog_application_change", args=[row.pk]),
        "list_url": reverse("admin:catalog_application_changelist"),
    }
    shown = {**admin.site.each_context(request), **links, **context}
    shown |= {"title": title, "application": row, "opts": row._meta}
    return TemplateResponse(request, f"admin/workbench/{name}.html", shown)
