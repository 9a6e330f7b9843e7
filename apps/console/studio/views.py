"""Serves the studio's page and the endpoints for its scripts."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, RawPostDataException
from django.middleware.csrf import get_token
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.client_address import address_of
from apps.catalog.actions import archive, discard_draft, publish, request_publishing, send_back
from apps.catalog.history.display import rendered_differences
from apps.catalog.icons.images import keep_image
from apps.catalog.models import Application
from apps.catalog.versions.comparison import unpublished_differences
from apps.catalog.versions.definitions import shown_definition
from apps.catalog.versions.drafts import DraftOvertaken, draft_of
from apps.catalog.versions.publishing_requests import SecondPublisherRequired
from apps.console.admin.connect.deployments import try_connection
from apps.console.operator_rights import PUBLISH, may_archive
from apps.console.studio.access import application_seen, for_editors, may_change_application
from apps.console.studio.choices import choices_for
from apps.console.studio.field_labels import application_label
from apps.console.studio.page import page_data, stored_data
from apps.console.studio.typed_draft import body_of, typed_in
from apps.console.studio.working_copy import (
    DraftClashing,
    DraftRefused,
    findings_data,
    findings_of,
    makes_secrets,
    problems_in_error,
    review_draft,
    save_working_copy,
)
from apps.integers import is_integer
from apps.workspace.local.deployments.deployment import Deployment

NOT_SAVED_YET = "Not saved yet. When you leave the field, the credential becomes a secret."


@require_safe
def studio(request: HttpRequest, pk: int) -> HttpResponse:
    rows: Any = admin.site.get_model_admin(Application)
    try:
        row = application_seen(request, pk)
    except Http404:
        if not rows.has_view_permission(request) or rows.is_hidden(request, pk):
            raise
        return delete_draft(rows, request, pk)
    data = page_data(request, row, can_change=may_change_application(request, row))
    context = {
        "application": row,
        "data": {**data, "csrf": get_token(request)},
    }
    answer: HttpResponse = rows.page(request, "admin/studio/page.html", row.title, context)
    return answer


def delete_draft(rows: Any, request: HttpRequest, pk: int) -> HttpResponse:
    title = "This application was deleted"
    page: HttpResponse = rows.page(request, "admin/studio/deleted.html", title, {"number": pk})
    page.status_code = 404
    return page


@require_safe
def choices(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(choices_for(request, application_seen(request, pk)))


@for_editors
def check(request: HttpRequest, row: Application) -> JsonResponse:
    """Return the errors and warnings in the unsaved draft."""
    typed = typed_in(body_of(request))
    return JsonResponse({"findings": findings_data(review_draft(row, typed), typed.manifest)})


@for_editors
def upload_icon(request: HttpRequest, row: Application) -> JsonResponse:
    """Store the image in the body, and return its name for the draft's icon."""
    try:
        return JsonResponse({"icon": keep_image(request.body)})
    except RawPostDataException:
        return JsonResponse({"message": "Send the image itself, not a form."}, status=422)
    except ValidationError as error:
        return JsonResponse({"message": error.messages[0]}, status=422)


@for_editors
def save_typed(request: HttpRequest, row: Application) -> JsonResponse:
    """Save the draft.

    With `is_automatic`, saves nothing if a credential would become a secret, because the user may
    still be typing the credential.
    """
    body = body_of(request)
    typed, base, picked = typed_in(body), typed_in(body.get("base")), body.get("choices")
    picked = {str(k): str(v) for k, v in picked.items()} if isinstance(picked, dict) else {}
    try:
        if body.get("is_automatic") is True and makes_secrets(typed, row):
            return JsonResponse({"message": NOT_SAVED_YET}, status=202)
        saved = save_working_copy(row, typed, seen_in(body) or 0, base, picked, request.user)
    except DraftRefused as error:
        findings = findings_data(error.findings, typed.manifest)
        return JsonResponse({"message": str(error), "findings": findings}, status=422)
    except DraftClashing as error:
        return JsonResponse({"message": str(error), "clashes": error.clashes}, status=409)
    findings = findings_data(saved.findings, typed.manifest)
    return stored_response(request, row, saved.message, refused=saved.refused, findings=findings)


@for_editors
def discard(request: HttpRequest, row: Application) -> JsonResponse:
    discard_draft.execute(row)
    return stored_response(request, row, "Discarded.")


@for_editors
def difference(request: HttpRequest, row: Application) -> JsonResponse:
    """Return the differences between the live version and the stored draft, and the draft's
    version.
    """
    found = rendered_differences(unpublished_differences(row))
    rows = [
        {
            "path": one.path.removeprefix("manifest."),
            "label": application_label(one.path, one.items),
            "kind": one.kind,
            "before": one.before,
            "after": one.after,
            "lines": one.lines,
        }
        for one in found
    ]
    return JsonResponse({"differences": rows, "version": draft_of(row).version})


@for_editors
def publish_draft(request: HttpRequest, row: Application) -> JsonResponse:
    """Publish the stored draft. Raises `UnreadableDraft` if the request is invalid, and
    `PermissionDenied` if the user may not publish.
    """
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied
    body = body_of(request)
    try:
        version = publish.execute(
            row,
            str(body.get("note", "")),
            user=cast(Any, request.user),
            seen=seen_in(body),
            only_new=body.get("only_new") is True,
            is_over=body.get("is_over") is True,
            address=address_of(request),
        )
    except DraftOvertaken as error:
        return overtaken(error)
    except publish.DraftOutdated as error:
        return JsonResponse({"message": " ".join(error.messages), "is_outdated": True}, status=409)
    except SecondPublisherRequired as error:
        return JsonResponse({"message": error.messages[0]}, status=403)
    except ValidationError as error:
        return refusal_response(
            row, error, "Not published. Each problem is shown next to its field."
        )
    return stored_response(request, row, f"Published as version {version.number}.")


@for_editors
def request_publication(request: HttpRequest, row: Application) -> JsonResponse:
    """Request that another user publish the stored draft."""
    body, user = body_of(request), cast(Any, request.user)
    try:
        request_publishing.execute(
            row,
            str(body.get("note", "")),
            user,
            seen=seen_in(body),
            address=address_of(request),
        )
    except DraftOvertaken as error:
        return overtaken(error)
    except ValidationError as error:
        return refusal_response(row, error, "Publishing was not requested.")
    return stored_response(request, row, "Another user can publish it now.")


@for_editors
def return_draft(request: HttpRequest, row: Application) -> JsonResponse:
    """Send a draft back to the author who requested publishing. Raises `PermissionDenied` if the
    user may not publish.
    """
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied
    words, user = str(body_of(request).get("words", "")), cast(Any, request.user)
    try:
        send_back.execute(row, words, user, address=address_of(request))
    except ValidationError as error:
        return JsonResponse({"message": " ".join(error.messages)}, status=422)
    return stored_response(request, row, "The draft was sent back with your comment.")


@require_POST
def unarchive(request: HttpRequest, pk: int) -> JsonResponse:
    """Restore the application from the archive. Raises `PermissionDenied` if the user may not."""
    row = application_seen(request, pk)
    if not may_archive(request, row):
        raise PermissionDenied
    archive.undo(row)
    return stored_response(request, row, f"{row.title} is no longer archived.")


def seen_in(body: Mapping[str, Any]) -> int | None:
    """Return the version of the draft that the page shows, or None to accept any version."""
    seen = body.get("version")
    return seen if is_integer(seen) else None


def overtaken(error: DraftOvertaken) -> JsonResponse:
    return JsonResponse({"message": f"{error} Reload the page."}, status=409)


def refusal_response(row: Application, error: ValidationError, otherwise: str) -> JsonResponse:
    """Return a response with the error in the note or, if the note is valid, with the errors in the
    draft.
    """
    draft = shown_definition(draft_of(row))
    problems = findings_of(draft, problems_in_error(error))
    about_note = [one.message for one in problems if one.path == "(note)"]
    findings = [] if about_note else findings_data(problems, draft.manifest)
    message = " ".join(about_note) or otherwise
    return JsonResponse({"message": message, "findings": findings}, status=422)


def stored_response(
    request: HttpRequest, row: Application, message: str, **more: Any
) -> JsonResponse:
    row = application_seen(request, row.pk)  # The old object caches its draft.
    return JsonResponse({**stored_data(request, row), "message": message, **more})


@for_editors
def test_deployment(request: HttpRequest, row: Application) -> JsonResponse:
    """Send a test request to a deployment's model, and return the result."""
    name = body_of(request).get("deployment_id")
    found = Deployment.objects.filter(deployment_id=str(name)).first()
    if found is None:
        return JsonResponse({"ok": False, "message": f"Unknown deployment: {name!r}."})
    result = try_connection(found)
    return JsonResponse({"ok": result.failed is None, "message": result.text})
