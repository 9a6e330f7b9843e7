"""The pages of the framed editor.

A page that cannot show the editor says why, and tells the chat around it when somebody has to
sign in. Saving answers the script in JSON, so that what was typed stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
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
from apps.catalog.review import review_text
from apps.console.admin.manifest_editor import KeptManifestField, ManifestEditor
from apps.console.embedding import kept
from apps.console.embedding.edits import Refused, Saved, read_edit
from apps.console.embedding.own import OwnForm, may_change, save_own
from apps.manifest.schema import TYPE_NAME

NOT_ALLOWED = "Your account may not change applications. Sign in with another one."
SIGNED_OUT = "You are signed out. Sign in in a new window, then save again."

View = Callable[..., HttpResponse]


class KeptEditor(ManifestEditor):
    check = "dial-editor-check"


class KeptForm(forms.Form):
    """The manifest of an application that DIAL Core keeps."""

    manifest = KeptManifestField(widget=KeptEditor)
    seen_version = forms.CharField(widget=forms.HiddenInput)


@dataclass(frozen=True, slots=True)
class Shown:
    """A form with the fields `manifest` and `seen_version`, and what it is about."""

    title: str
    form: forms.ModelForm[Application] | KeptForm


def framed(view: View) -> View:
    """The policy of these pages names who may frame them; without it, nobody may."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response.xframe_options_exempt = bool(settings.ALLOWED_FRAME_ANCESTORS)
        return response

    return wrapper


@framed
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def editor(request: HttpRequest) -> HttpResponse:
    return save(request) if request.method == "POST" else show(request)


def show(request: HttpRequest) -> HttpResponse:
    if not is_staff(request):
        return page(request, "editor/signed_out.html", {"state": "signed-out"})
    try:
        shown = find_shown(request)
    except Refused as refused:
        return page(request, "editor/unavailable.html", {"state": "refused", "why": str(refused)})
    context = {"state": "open", "form": shown.form, "title": shown.title}
    return page(request, "editor/editor.html", context)


def save(request: HttpRequest) -> HttpResponse:
    if not is_staff(request):
        return JsonResponse({"error": SIGNED_OUT, "signed_out": True}, status=401)
    try:
        return JsonResponse(asdict(save_edit(request)))
    except Refused as refused:
        status = 409 if refused.version else 422
        return JsonResponse({"error": str(refused), "version": refused.version}, status=status)


@require_POST
def check_kept(request: HttpRequest) -> HttpResponse:
    """The findings for a manifest that DIAL Core keeps, while somebody types."""
    if not is_staff(request) or not may_change(request):
        raise PermissionDenied
    findings = review_text(request.POST.get("manifest", ""), is_ours=False)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_safe
def signed_in(request: HttpRequest) -> HttpResponse:
    """Where the window for signing in ends."""
    template = "editor/signed_in.html" if is_staff(request) else "editor/not_staff.html"
    return TemplateResponse(request, template)


# --- What is edited ---------------------------------------------------------------------------


def find_shown(request: HttpRequest) -> Shown:
    """Raises `Refused`."""
    name = named(request)
    if name.startswith(kept.KIND):
        found = async_to_sync(kept.load_kept)(kept.editor_calls(), name)
        initial = {"manifest": found.manifest, "seen_version": found.etag}
        form = KeptForm(initial=initial)
        editor_of(form).findings = review_text(str(form["manifest"].value()), is_ours=False)
        return Shown(found.title or name, form)
    row = find_row(request, name)
    return Shown(row.title, OwnForm(instance=row))


def save_edit(request: HttpRequest) -> Saved:
    """Raises `Refused`."""
    name, edit = named(request), read_edit(request.POST)
    if not name.startswith(kept.KIND):
        return save_own(request, find_row(request, name), edit)
    kept.check(edit)
    return async_to_sync(kept.save_kept)(kept.editor_calls(), name, edit)


def named(request: HttpRequest) -> str:
    """The application that the address names. Raises `Refused`."""
    if not may_change(request):
        raise Refused(NOT_ALLOWED)
    name = request.GET.get("id", "").strip()
    if not name:
        raise Refused("The address names no application: `id` is missing.")
    return name


def find_row(request: HttpRequest, slug: str) -> Application:
    """Raises `Refused`."""
    row = Application.objects.filter(slug=slug).first() if slug_re.match(slug) else None
    if row is None:
        raise Refused(f"There is no application {slug[:100]!r} in this installation.")
    if not may_change(request, row):
        raise Refused(NOT_ALLOWED)
    return row


def editor_of(form: forms.Form) -> ManifestEditor:
    widget = form.fields["manifest"].widget
    assert isinstance(widget, ManifestEditor)  # noqa: S101 - the form declares it
    return widget


def is_staff(request: HttpRequest) -> bool:
    user = request.user
    return user.is_authenticated and user.is_active and user.is_staff


# --- Pages ------------------------------------------------------------------------------------


def page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    asked = request.GET
    common = {
        "theme": theme_of(asked.get("theme", "")),
        "name": asked.get("applicationName") or TYPE_NAME,
        "origins": settings.ALLOWED_ORIGIN,
    }
    return TemplateResponse(request, template, {**common, **context})


def theme_of(wanted: str) -> str:
    """`light`, `dark`, or "" for what the system prefers; the chat's names contain these words."""
    return next((theme for theme in ("dark", "light") if theme in wanted.lower()), "")
