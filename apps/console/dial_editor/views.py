"""Defines the views of the framed editor: the page, saving, checks while the user types, and
sign-in.
"""

from dataclasses import asdict
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.validators import slug_re
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.catalog.models import Application
from apps.catalog.review.manifests import review_text
from apps.console.dial_editor import core_documents
from apps.console.dial_editor.edits import EditRefused, EditSaved, read_edit
from apps.console.dial_editor.local_applications import (
    LocalApplicationForm,
    may_change_local,
    save_application,
)
from apps.console.operator_rights import visible_applications
from apps.manifest.schema.manifest_schema import TYPE_NAME

NOT_ALLOWED = "Your account can’t change applications. Sign in with another account."
SIGNED_OUT = "You are signed out. Sign in again in a new window, then save again."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def editor(request: HttpRequest) -> HttpResponse:
    response = save(request) if request.method == "POST" else show(request)
    # The content security policy lists the origins that may frame the page. An empty list allows
    # none.
    response.xframe_options_exempt = bool(settings.ALLOWED_FRAME_ANCESTORS)
    return response


def show(request: HttpRequest) -> HttpResponse:
    if not is_staff(request):
        return page(request, "signed_out.html", {"state": "signed-out"})
    try:
        title, form = open_form(request)
    except EditRefused as refused:
        return page(request, "unavailable.html", {"state": "refused", "why": str(refused)})
    return page(request, "editor.html", {"state": "open", "form": form, "title": title})


def save(request: HttpRequest) -> HttpResponse:
    if not is_staff(request):
        return JsonResponse({"error": SIGNED_OUT, "signed_out": True}, status=401)
    try:
        return JsonResponse(asdict(save_edit(request)))
    except EditRefused as refused:
        status = 409 if refused.version else 422
        return JsonResponse({"error": str(refused), "version": refused.version}, status=status)


@require_POST
def check_core_manifest(request: HttpRequest) -> HttpResponse:
    """Return the errors and warnings in an edited manifest that DIAL Core stores."""
    if not is_staff(request) or not may_change_local(request):
        raise PermissionDenied
    findings = review_text(request.POST.get("manifest", ""), is_ours=False)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_safe
def signed_in(request: HttpRequest) -> HttpResponse:
    """Show the last page of the sign-in window."""
    template = "editor/signed_in.html" if is_staff(request) else "editor/not_staff.html"
    return TemplateResponse(request, template)


def open_form(request: HttpRequest) -> tuple[str, forms.BaseForm]:
    """Return the application's title and a form with `manifest` and `seen_version`. Raises
    `EditRefused` if the user or the editor cannot edit the application.
    """
    name = application_id(request)
    if name.startswith(core_documents.KIND):
        document = async_to_sync(core_documents.load)(core_documents.editor_calls(), name)
        return document.title or name, core_documents.ManifestForm(document)
    row = find_row(request, name)
    return row.title, LocalApplicationForm(instance=row)


def save_edit(request: HttpRequest) -> EditSaved:
    """Save the application in the request. Raises `EditRefused` if it cannot be saved."""
    name, edit = application_id(request), read_edit(request.POST)
    if not name.startswith(core_documents.KIND):
        return save_application(request, find_row(request, name), edit)
    core_documents.check(edit)
    return async_to_sync(core_documents.save)(core_documents.editor_calls(), name, edit)


def application_id(request: HttpRequest) -> str:
    """Return the query parameter `id`: a slug, or a path in DIAL Core. Raises `EditRefused` if it
    is missing or the user may not change applications.
    """
    if not may_change_local(request):
        raise EditRefused(NOT_ALLOWED)
    name = request.GET.get("id", "").strip()
    if not name:
        raise EditRefused("The URL contains no application: `id` is missing.")
    return name


def find_row(request: HttpRequest, slug: str) -> Application:
    """Return the application with this slug. Raises `EditRefused` if it does not exist or the user
    may not edit it.
    """
    row = visible_applications(request).filter(slug=slug).first() if slug_re.match(slug) else None
    if row is None:
        raise EditRefused(f"Unknown application: {slug[:100]!r}.")
    if not may_change_local(request, row):
        raise EditRefused(NOT_ALLOWED)
    return row


def is_staff(request: HttpRequest) -> bool:
    user = request.user
    return user.is_authenticated and user.is_active and user.is_staff


def page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    wanted = request.GET.get("theme", "").lower()
    common = {
        # Parts of the names of the chat's themes. "" means the system's preference.
        "theme": next((theme for theme in ("dark", "light") if theme in wanted), ""),
        "name": request.GET.get("applicationName") or TYPE_NAME,
        "origins": settings.ALLOWED_ORIGIN,
    }
    return TemplateResponse(request, f"editor/{template}", common | context)
