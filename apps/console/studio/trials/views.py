"""Tests toolsets in the studio: lists their tools, and calls one of them.

A call has the same side effects as in a run, so it requires permission to change the application.
"""

from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from apps.accounts.caller import Caller
from apps.agent.tools import Tool
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.console.studio.access import draft_caller, for_editors
from apps.console.studio.selected_version import LIVE, SelectedVersion, select_version
from apps.console.studio.tool_sources.parameter_dialect import list_or_empty
from apps.console.studio.trials.argument_form import arguments, fill_fields, schema_fields
from apps.console.studio.trials.parameters import example, indent_json, read_parameters
from apps.console.studio.trials.trial_report import report_trial
from apps.console.studio.typed_draft import body_of, typed_in
from apps.errors import ApplicationBroken
from apps.integers import is_integer
from apps.runs.tool_trial import OfferedTools, offer, only_toolset, try_tool

ALL = "all"
"""The value of `place` that selects all toolsets together. Any other value is a toolset's index."""
IDENTITY = ("type", "name", "template_name", "deployment_id")
"""Toolsets in the draft and in the live version match if these fields are equal."""
MOST_UNFILTERED = 8
"""The list of tools has a search field if it contains more tools than this."""


@for_editors
def trial(request: HttpRequest, row: Application) -> HttpResponse:
    """Render the tools of the toolset at `place`, the form for the tool `name`, or the report about
    a call with `arguments`.
    """
    body = body_of(request)
    try:
        context = trial_context(row, body, draft_caller(request))
    except ApplicationBroken as error:
        context = {"problems": error.problems}
    context["version"] = "live version" if body.get("which") == LIVE else "draft"
    return TemplateResponse(request, "admin/studio/trials/trial.html", context)


def trial_context(row: Application, body: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """Return the template context. Calls the tool if the request has arguments.

    Raises `Http404` if the toolset does not exist, `UnreadableDraft` if the request is invalid, and
    `ApplicationBroken` if the application has errors.
    """
    version = select_version(row, body)
    application = version.resolve(version.document)  # A run needs the whole document.
    index = toolset_index(row, version, body)
    if index is not None:
        application = version.resolve(only_toolset(version.document, index))
    offered = async_to_sync(offer)(application, caller, index)
    context = {
        "toolset": application.manifest.tool_sets[index] if index is not None else None,
        "offered": offered,
    }
    if not (name := str(body.get("name") or "")):
        return {**context, **list_context(offered)}
    typed = body.get("arguments")
    texts = {key: str(text) for key, text in typed.items()} if isinstance(typed, dict) else None
    return {**context, **tool_context(application, caller, offered, name, texts)}


def toolset_index(row: Application, version: SelectedVersion, body: dict[str, Any]) -> int | None:
    """Return the index of a toolset in this version, or None for all toolsets. In the request,
    `place` is the toolset's index in the draft.

    Raises `Http404` if the draft does not have the toolset, and `ApplicationBroken` if the live
    version does not.
    """
    place = body.get("place")
    if place == ALL:
        return None
    written = list_or_empty(typed_in(body).manifest.get("tool_sets"))
    if not is_integer(place) or not 0 <= place < len(written):
        raise Http404("This toolset does not exist.")
    if body.get("which") != LIVE:
        return place
    for index, one in enumerate(version.document["tool_sets"]):
        if identity(one) == identity(written[place]):
            return index
    raise ApplicationBroken(row.slug, ("The application does not have this toolset.",))


def identity(toolset: Any) -> list[Any]:
    return [toolset.get(key) for key in IDENTITY] if isinstance(toolset, dict) else []


def list_context(offered: OfferedTools) -> dict[str, Any]:
    groups = (("Tools", offered.tools), ("Other tools of every run", offered.others))
    return {
        "groups": [
            {"title": title, "tools": [tool_details(tool, offered) for tool in tools]}
            for title, tools in groups
            if tools
        ],
        "is_filtered": len(offered.tools) + len(offered.others) > MOST_UNFILTERED,
    }


def tool_context(
    application: ResolvedApplication,
    caller: Caller,
    offered: OfferedTools,
    name: str,
    typed: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return the template context for the tool's form. If `typed` is not None, call the tool, and
    return the context for the report instead.
    """
    found = offered.find(name)
    schema, constants = (found.spec.parameters, found.constants) if found is not None else ({}, {})
    fields = schema_fields(schema, constants)
    context = {
        "tool": tool_details(found, offered) if found is not None else None,
        "name": name,
        "is_called": typed is not None,
    }
    if typed is None:
        return {**context, "fields": fields, "raw": example(schema)}
    text = typed.get("json", "")
    if typed.get("mode") != "json":
        fields = fill_fields(fields, typed)
        if mistakes := [field for field in fields if field.error]:
            return {**context, "mistakes": mistakes}
        text = arguments(fields)
    trial = report_trial(async_to_sync(try_tool)(application, caller, name, text))
    return {**context, "trial": trial, "arguments": indent_json(trial.outcome.arguments)}


def tool_details(tool: Tool, offered: OfferedTools) -> dict[str, Any]:
    spec = tool.spec
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": read_parameters(spec.parameters, tool.constants),
        "schema": indent_json(spec.parameters),
        "is_withheld": spec.name in offered.withheld,
        "is_hidden": spec.name in offered.hidden,
    }
