"""Checks who can use an application's studio."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from apps.accounts.caller import Caller, caller_in
from apps.accounts.languages import locale_of_request
from apps.catalog.models import Application
from apps.console.operator_rights import visible_applications
from apps.console.studio.typed_draft import UnreadableDraft

View = Callable[..., Any]


def application_seen(request: HttpRequest, pk: int) -> Application:
    """Return the application with this ID. Raises `Http404` or `PermissionDenied` if the user may
    not see it.
    """
    row = get_object_or_404(visible_applications(request).select_related("owner", "widget"), pk=pk)
    if not admin.site.get_model_admin(Application).has_view_permission(request, row):
        raise PermissionDenied
    return row


def may_change_application(request: HttpRequest, row: Application) -> bool:
    return bool(admin.site.get_model_admin(Application).has_change_permission(request, row))


def draft_caller(request: HttpRequest) -> Caller:
    """Return the caller for testing the draft: the signed-in user, outside of any team."""
    return caller_in(request.user.pk, locale=locale_of_request(request))


def for_editors(view: View) -> View:
    """Wrap a view that takes an application, and allow only POSTs by users who can edit it. Convert
    `UnreadableDraft` to status 400.
    """

    @require_POST
    @wraps(view)
    def wrapper(request: HttpRequest, pk: int) -> Any:
        row = application_seen(request, pk)
        if not may_change_application(request, row):
            raise PermissionDenied
        try:
            return view(request, row)
        except UnreadableDraft as error:
            return JsonResponse({"message": str(error)}, status=400)

    return wrapper
