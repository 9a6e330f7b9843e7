"""Who may open the studio of an application, and what its scripts are answered."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from apps.catalog.models import Application
from apps.console.operated import seen
from apps.console.studio.typed import Unreadable

View = Callable[..., Any]


def application_seen(request: HttpRequest, pk: int) -> Application:
    """Raises Http404, PermissionDenied."""
    row = get_object_or_404(seen(request).select_related("owner"), pk=pk)
    if not admin.site.get_model_admin(Application).has_view_permission(request, row):
        raise PermissionDenied
    return row


def may_change(request: HttpRequest, row: Application) -> bool:
    return bool(admin.site.get_model_admin(Application).has_change_permission(request, row))


def for_editors(view: View) -> View:
    """Give the view the row of somebody who may change it, and answer what it cannot read with 400."""

    @require_POST
    @wraps(view)
    def wrapper(request: HttpRequest, pk: int) -> Any:
        row = application_seen(request, pk)
        if not may_change(request, row):
            raise PermissionDenied
        try:
            return view(request, row)
        except Unreadable as error:
            return JsonResponse({"message": str(error)}, status=400)

    return wrapper
