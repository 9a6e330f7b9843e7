"""The studio's page, and what its scripts ask."""

from dataclasses import asdict
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.views.decorators.http import require_safe

from apps.accounts.addresses import address_of
from apps.catalog.application_files.own_skills import skill_problems
from apps.catalog.cycles import cycle_problems
from apps.catalog.icons.images import keep_image
from apps.catalog.models import Application
from apps.catalog.review import review_text
from apps.catalog.versions import publishing_requests
from apps.catalog.versions.drafts import DraftOvertaken
from apps.catalog.versions.drafts import discard_draft as discard_draft_of
from apps.catalog.versions.publication import DraftOutdated, publish
from apps.catalog.versions.publishing_requests import SecondPublisherRequired
from apps.console.admin.deployments import try_connection
from apps.console.operated import PUBLISH
from apps.console.studio.access import application_seen, for_editors, may_change
from apps.console.studio.choices import choices_for
from apps.console.studio.page import page_data, stored_data
from apps.console.studio.typed import body_of, text_of, typed_in
from apps.console.studio.working_copy import (
    DraftClashing,
    DraftRefused,
    difference_rows,
    findings_of,
    icon_problems,
    makes_secrets,
    problems_of,
    save,
    sources_of,
    title_problems,
    working_copy,
)
from apps.integers import is_integer
from apps.manifest.aliases import with_own_names
from apps.workspace.local.deployment import Deployment

HELD = "Not saved yet: leave the field of the credential, and it becomes a secret."


@require_safe
def studio(request: HttpRequest, pk: int) -> HttpResponse:
    row = application_seen(request, pk)
    data = page_data(request, row, can_change=may_change(request, row))
    rows: Any = admin.site.get_model_admin(Application)
    context = {
        "application": row,
        "change_url": rows.url("change", row.pk),
        "data": {**data, "csrf": get_token(request)},
    }
    answer: HttpResponse = rows.page(request, "admin/studio/page.html", row.title, context)
    return answer


@require_safe
def choices(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(choices_for(request, application_seen(request, pk)))


@for_editors
def check(request: HttpRequest, row: Application) -> JsonResponse:
    """What is wrong with the typed draft, in the words of every other check."""
    typed = typed_in(body_of(request))
    found = review_text(text_of(typed.document), sources=sources_of(row))
    beside = [*title_problems(typed), *icon_problems(typed), *skill_problems(typed.skills or {})]
    beside += cycle_problems(row.slug, with_own_names(typed.document), row.pk)
    found += findings_of(typed, beside)
    return JsonResponse({"findings": [asdict(one) for one in found]})


@for_editors
def upload_icon(request: HttpRequest, row: Application) -> JsonResponse:
    """Keep the picture that is the body, under the name that a draft may have as its icon."""
    try:
        return JsonResponse({"icon": keep_image(request.body)})
    except ValidationError as error:
        return JsonResponse({"message": error.messages[0]}, status=422)


@for_editors
def save_draft(request: HttpRequest, row: Application) -> JsonResponse:
    """`is_automatic`: while somebody types. Such a save makes no secrets of what may be half typed."""
    body = body_of(request)
    seen = body.get("version")
    typed, base, picked = typed_in(body), typed_in(body.get("base")), body.get("choices")
    picked = {str(k): str(v) for k, v in picked.items()} if isinstance(picked, dict) else {}
    number = seen if is_integer(seen) else 0
    try:
        if body.get("is_automatic") is True and makes_secrets(typed, row):
            return JsonResponse({"message": HELD}, status=202)
        saved = save(row, typed, number, base, picked, request.user)
    except DraftRefused as error:
        findings = [asdict(one) for one in error.findings]
        return JsonResponse({"message": str(error), "findings": findings}, status=422)
    except DraftClashing as error:
        return JsonResponse({"message": str(error), "clashes": error.clashes}, status=409)
    findings = [asdict(one) for one in saved.findings]
    return stored(request, row, saved.said, refused=saved.refused, findings=findings)


@for_editors
def discard_draft(request: HttpRequest, row: Application) -> JsonResponse:
    discard_draft_of(row)
    return stored(request, row, "Discarded.")


@for_editors
def difference(request: HttpRequest, row: Application) -> JsonResponse:
    """What publishing the stored draft would change."""
    return JsonResponse({"differences": [*difference_rows(row)]})


@for_editors
def publish_draft(request: HttpRequest, row: Application) -> JsonResponse:
    """Raises `Unreadable`, PermissionDenied."""
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied
    body = body_of(request)
    try:
        version = publish(
            row,
            str(body.get("note", "")),
            user=cast(Any, request.user),
            only_new=body.get("only_new") is True,
            is_over=body.get("is_over") is True,
            address=address_of(request),
        )
    except DraftOutdated as error:
        return JsonResponse({"message": " ".join(error.messages), "is_outdated": True}, status=409)
    except SecondPublisherRequired as error:
        return JsonResponse({"message": error.messages[0]}, status=403)
    except ValidationError as error:
        return refused(row, error, "It was not published. Each mistake stands beside its field.")
    return stored(request, row, f"Published as version {version.number}.")


@for_editors
def request_publishing(request: HttpRequest, row: Application) -> JsonResponse:
    """Ask somebody else to publish the stored draft."""
    body, user = body_of(request), cast(Any, request.user)
    seen = body.get("version")
    try:
        publishing_requests.request_publishing(
            row,
            str(body.get("note", "")),
            user,
            seen=seen if is_integer(seen) else None,
            address=address_of(request),
        )
    except DraftOvertaken as error:
        return JsonResponse({"message": f"{error} Load the page again."}, status=409)
    except ValidationError as error:
        return refused(row, error, "It was not requested.")
    return stored(request, row, "Somebody else can publish it now.")


@for_editors
def return_draft(request: HttpRequest, row: Application) -> JsonResponse:
    """Send a draft back whose publishing is requested. Raises PermissionDenied."""
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied
    words, user = str(body_of(request).get("words", "")), cast(Any, request.user)
    try:
        publishing_requests.send_back(row, words, user, address=address_of(request))
    except ValidationError as error:
        return JsonResponse({"message": " ".join(error.messages)}, status=422)
    return stored(request, row, "It was sent back with your words.")


def refused(row: Application, error: ValidationError, otherwise: str) -> JsonResponse:
    """What is wrong with the note, or with the draft beside its fields."""
    problems = findings_of(working_copy(row).masked, problems_of(error))
    about_note = [one.message for one in problems if one.path == "(note)"]
    findings = [] if about_note else [asdict(one) for one in problems]
    message = " ".join(about_note) or otherwise
    return JsonResponse({"message": message, "findings": findings}, status=422)


def stored(request: HttpRequest, row: Application, said: str, **more: Any) -> JsonResponse:
    row = application_seen(request, row.pk)  # the old one remembers its draft
    return JsonResponse({**stored_data(request, row), "message": said, **more})


@for_editors
def test_deployment(request: HttpRequest, row: Application) -> JsonResponse:
    """Ask the model of a deployment something; waits for a bounded time."""
    name = body_of(request).get("deployment_id")
    found = Deployment.objects.filter(deployment_id=str(name)).first()
    if found is None:
        return JsonResponse({"ok": False, "message": f"There is no deployment {name!r}."})
    result = try_connection(found)
    return JsonResponse({"ok": result.failed is None, "message": result.text})
