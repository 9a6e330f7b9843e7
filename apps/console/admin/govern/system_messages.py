"""Defines the admin pages for messages that all users see on the chat page, and for the
installation's read-only mode.
"""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.catalog.models import SystemMessage
from apps.console.admin.theme import Admin
from apps.live.journal.notifications import EVERYBODY, announce_growth
from apps.workspace.local import read_only

logger = logging.getLogger(__name__)


@admin.register(SystemMessage)
class SystemMessageAdmin(Admin[SystemMessage]):
    list_display = ("text", "level", "until", "created_at")
    list_filter = ("level",)

    def save_model(self, request: HttpRequest, obj: SystemMessage, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        transaction.on_commit(lambda: async_to_sync(announce_growth)(EVERYBODY))


def may_switch(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)


@require_http_methods(["GET", "POST"])
def read_only_page(request: HttpRequest) -> HttpResponse:
    if not may_switch(request):
        raise PermissionDenied
    if request.method == "POST":
        on = request.POST.get("switch") == "on"
        read_only.switch(on=on)
        logger.warning("Read-only: %s, by user %s", "on" if on else "off", request.user.pk)
        return redirect("read-only")
    context = {
        **admin.site.each_context(request),
        "title": "Maintenance",
        "is_on": read_only.is_on(),
    }
    return render(request, "admin/read_only.html", context)
