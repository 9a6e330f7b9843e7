"""Defines the page on which superusers turn the installation's read-only mode on and off."""

import logging

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.workspace.local import read_only

logger = logging.getLogger(__name__)


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
