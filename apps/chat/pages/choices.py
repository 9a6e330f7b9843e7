"""Lists what a user can choose in the menus of the message box."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.resolve import resolve_application
from apps.catalog.resolved_application import ResolvedApplication
from apps.catalog.saved_prompts import MOST_OFFERED, offered_prompts
from apps.chat.visitors import find_application, find_conversation, visitor
from apps.conversations.access import own, under
from apps.conversations.asking.chosen_models import check_offered, titled_models
from apps.conversations.asking.tool_switches import check_switches, tool_switches
from apps.conversations.files.folder import ROOT, folder_of, is_uuid
from apps.errors import ApplicationBroken, ApplicationNotFound, QuickAppError, Refused
from apps.runs.explanations import error_text
from apps.runs.requests import EFFORT, possible_efforts
from apps.runs.workspaces import open_workspace
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.files.readers import readable_files

MOST_APPLICATIONS = 200
MOST_RECENT_FILES = 50
LONGEST_DETAIL = 200


@require_safe
def choices(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the choices for the conversation in the query parameter `conversation`, or for a new
    conversation if the parameter is empty. Raises Http404 if the visitor cannot access the
    application or the conversation.
    """
    caller = visitor(request)
    find_application(caller, slug)
    application = find_resolved(slug)
    stored = stored_choices(caller, slug, request.GET.get("conversation", ""))
    models = async_to_sync(models_of)(caller, application)
    wanted = request.GET.get("deployment", stored.deployment)
    model = wanted if wanted in {one["id"] for one in models} else ""
    offered = {
        "prompts": prompts_for(caller),
        "skills": skills_of(application),
        "applications": applications_for(caller, slug),
        "files": recent_files(caller),
        "efforts": async_to_sync(efforts_of)(caller, application, model),
        "effort": stored.effort,
        "models": models,
        "model": model,
        "tools": tools_of(caller, application, stored.tools),
    }
    return JsonResponse(offered, headers={"Cache-Control": "no-store"})


def find_resolved(slug: str) -> ResolvedApplication | None:
    """Return the application with this slug, or None if its manifest is invalid."""
    try:
        return async_to_sync(resolve_application)(slug)
    except (ApplicationBroken, ApplicationNotFound):
        return None


def prompts_for(caller: Caller) -> list[dict[str, Any]]:
    rows = offered_prompts(caller)[:MOST_OFFERED]
    return [
        {"name": row.name, "title": row.title, "text": row.text, "own": row.user_id is not None}
        for row in rows
    ]


def skills_of(application: ResolvedApplication | None) -> list[dict[str, str]]:
    """Return the name and description of each skill that users can choose for a question."""
    installed = () if application is None else application.predefined.skills
    return [
        {"name": skill.document.name, "detail": skill.document.description[:LONGEST_DETAIL]}
        for skill in installed
        if skill.document.is_for_users
    ]


def applications_for(caller: Caller, current: str) -> list[dict[str, str]]:
    rows = usable(caller).exclude(slug=current).only("slug", "title", "description")
    return [
        {"slug": row.slug, "title": row.title, "detail": row.description[:LONGEST_DETAIL]}
        for row in rows[:MOST_APPLICATIONS]
    ]


def recent_files(caller: Caller) -> list[dict[str, Any]]:
    """Return the user's most recently changed conversation files as JSON. Files in temporary
    conversations are omitted.
    """
    rows = readable_files(caller.bucket, caller.bucket).filter(name__startswith=f"{ROOT}/")
    for temporary in own(caller).filter(temporary_until__isnull=False):
        rows = rows.exclude(name__startswith=folder_of(temporary.pk))
    newest = rows.order_by("-updated_at")[:MOST_RECENT_FILES]
    return [
        {
            "name": row.name.rsplit("/", 1)[-1],
            "url": write_path(row.bucket, row.name),
            "type": row.content_type,
            "size": row.size,
        }
        for row in newest
    ]


async def models_of(
    caller: Caller, application: ResolvedApplication | None
) -> Sequence[dict[str, str]]:
    return await titled_models(application, open_workspace(caller))


async def efforts_of(
    caller: Caller, application: ResolvedApplication | None, model: str = ""
) -> Sequence[str]:
    """Return the reasoning efforts that a user can choose for a model, or () if the application
    fixes the effort. `model` is a deployment ID, or "" for the application's own model.
    """
    if application is None or EFFORT in application.parameters:
        return ()
    try:
        info = await open_workspace(caller).facts(model or application.deployment_id)
    except QuickAppError:  # The answer reports the deployment's problem.
        return ()
    return possible_efforts(info)


def tools_of(
    caller: Caller, application: ResolvedApplication | None, chosen: Mapping[str, bool]
) -> list[dict[str, Any]]:
    """Return the toolsets that users can turn on and off, as JSON. `chosen` overrides their default
    states by toolset name.
    """
    locale = caller.client.locale or "en"
    switches = [] if application is None else tool_switches(application.manifest, locale)
    return [
        {
            "name": one.name,
            "title": one.title,
            "detail": one.detail[:LONGEST_DETAIL],
            "on": chosen.get(one.name, one.is_on),
        }
        for one in switches
    ]


@dataclass(frozen=True, slots=True)
class ConversationChoices:
    """The user's choices for one conversation. "" means the application's default."""

    effort: str = ""
    deployment: str = ""
    tools: Mapping[str, bool] = field(default_factory=dict)
    """The toolsets, by name, that the user turned on or off."""


def stored_choices(caller: Caller, slug: str, conversation: str) -> ConversationChoices:
    """Return the choices that are stored with the conversation, or the defaults if `conversation`
    is "". Raises Http404 if the caller has no such conversation.
    """
    if not conversation:
        return ConversationChoices()
    if not is_uuid(conversation):
        raise Http404("This conversation does not exist.")
    mine = own(caller).filter(under(slug), pk=UUID(conversation))
    row = mine.only("reasoning_effort", "deployment", "tool_switches").first()
    if row is None:
        raise Http404("This conversation does not exist.")
    return ConversationChoices(
        row.reasoning_effort or "", row.deployment or "", row.tool_switches or {}
    )


@require_POST
def change_effort(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Set the conversation's reasoning effort to the value of the form field `effort`. The value ""
    restores the default.
    """
    found = find_conversation(request, slug, conversation)
    caller = visitor(request)
    effort = request.POST.get("effort", "")
    possible = async_to_sync(efforts_of)(caller, find_resolved(slug), found.deployment or "")
    if effort and effort not in possible:
        return refusal(f"effort: the model supports {', '.join(possible) or 'none'}.")
    own(caller).filter(pk=found.pk).update(reasoning_effort=effort or None)
    return redirect("conversation", slug, conversation)


@require_POST
def change_model(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Set the model for the conversation's next questions to the value of the form field
    `deployment`. The value "" restores the application's own model.
    """
    found = find_conversation(request, slug, conversation)
    application, deployment_id = find_resolved(slug), request.POST.get("deployment", "")
    if application is None:
        return refusal(gettext("This app can’t be used at the moment. Try again later."))
    if deployment_id:
        try:
            check_offered(application, deployment_id)
        except Refused as error:
            return refusal(error_text(error))
    own(visitor(request)).filter(pk=found.pk).update(deployment=deployment_id or None)
    return redirect("conversation", slug, conversation)


@require_POST
def switch_tool(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Turn the toolset whose name is in the form field `tool` on or off for the next questions. The
    field `on` is true or false.
    """
    found = find_conversation(request, slug, conversation)
    application, name = find_resolved(slug), request.POST.get("tool", "")
    if application is None:
        return refusal(gettext("This app can’t be used at the moment."))
    chosen = {name: request.POST.get("on") == "true"}
    try:
        check_switches(application, chosen)
    except Refused as error:
        return refusal(error_text(error))
    with transaction.atomic():
        row = own(visitor(request)).select_for_update(of=("self",)).filter(pk=found.pk).first()
        if row is not None:
            row.tool_switches = {**(row.tool_switches or {}), **chosen}
            row.save(update_fields=["tool_switches"])
    return redirect("conversation", slug, conversation)


def refusal(text: str) -> HttpResponse:
    return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
