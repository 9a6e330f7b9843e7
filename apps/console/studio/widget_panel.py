"""Serves the studio's panel for the widget. Its changes are saved immediately, not as part of a
draft.
"""

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.catalog.actions import set_widget
from apps.catalog.models import Application
from apps.console.operator_rights import may_grant
from apps.console.studio.access import application_seen, for_editors
from apps.console.studio.access_panel import refusal_response
from apps.console.studio.connect import widget_data
from apps.console.studio.typed_draft import UnreadableDraft, body_of

PREVIEW = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; frame-src 'self'; "
    "frame-ancestors 'self'; base-uri 'none'"
)
OWNERS_ONLY = "Only owners of the application can change its widget."


@for_editors
def save_widget(request: HttpRequest, row: Application) -> JsonResponse:
    """Save `is_enabled`, `origins` or both. Raises `UnreadableDraft` if `is_enabled` is not a
    boolean.
    """
    body = body_of(request)
    is_enabled, origins = body.get("is_enabled"), body.get("origins")
    if not isinstance(is_enabled, bool | None):
        raise UnreadableDraft("is_enabled: send true or false.")
    if not may_grant(request, row):
        return refusal_response(OWNERS_ONLY, 403)
    who = bucket_of(request.user.pk), address_of(request)
    try:
        widget = set_widget.execute(row, *who, is_enabled=is_enabled, origins=origins)
    except ValidationError as error:
        return refusal_response(" ".join(error.messages))
    return JsonResponse({"widget": widget_data(request, row, widget)})


@for_editors
def replace_key(request: HttpRequest, row: Application) -> JsonResponse:
    """Create a key that the embedding site uses to sign its users' identities. Only this response
    contains the key. If the request has a `public_key`, store it instead.
    """
    if not may_grant(request, row):
        return refusal_response(OWNERS_ONLY, 403)
    who = bucket_of(request.user.pk), address_of(request)
    public_key = body_of(request).get("public_key")
    if public_key is not None:
        try:
            widget = set_widget.set_public_key(row, *who, public_key)
        except ValidationError as error:
            return refusal_response(" ".join(error.messages))
        return JsonResponse({"widget": widget_data(request, row, widget), "key": ""})
    widget = set_widget.replace_key(row, *who)
    return JsonResponse({"widget": widget_data(request, row, widget), "key": widget.identity_key})


@require_safe
@xframe_options_sameorigin
def preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Return a page with only the widget, for a frame in the studio. Raises `Http404` if the user
    may not see the application.
    """
    row = application_seen(request, pk)
    response = render(request, "admin/studio/widget_preview.html", {"slug": row.slug})
    # No site can show other pages of the admin in a frame.
    response["Content-Security-Policy"] = PREVIEW
    return response
