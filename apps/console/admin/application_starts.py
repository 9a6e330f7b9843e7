"""The page that a new application starts from, and the export of one."""

from typing import TYPE_CHECKING

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from apps.catalog.application_files.exporter import ExportRefused, exported_files
from apps.catalog.application_files.starts import (
    application_from_upload,
    examples,
    new_from_file,
)
from apps.catalog.models import Application
from apps.catalog.row_files import ContentInvalid
from apps.console.application_archives import zip_answer
from apps.console.operated import seen

if TYPE_CHECKING:
    from apps.console.admin.applications import ApplicationAdmin

MOST_CLONED = 200
"""Applications in the list of what can be cloned."""
MOST_PROBLEMS = 20
NO_FILE = "Choose a file first."


def start_page(admin: "ApplicationAdmin", request: HttpRequest) -> HttpResponse:
    """A POST makes an application of the file that is sent. Raises PermissionDenied."""
    if not admin.has_add_permission(request):
        raise PermissionDenied
    problems: tuple[str, ...] = ()
    slug = request.POST.get("slug", "").strip()
    if request.method == "POST":
        try:
            row = made_of_upload(request, slug)
        except ContentInvalid as error:
            problems = error.problems
        else:
            admin.log_addition(request, row, [{"added": {}}])
            messages.success(request, f"{row.title} was made of the file.")
            return redirect(admin.url("change", row.pk))
    rows = seen(request).order_by("title").only("pk", "title", "slug")
    context = {
        "examples": examples(),
        "applications": rows[:MOST_CLONED],
        "problems": problems[:MOST_PROBLEMS],
        "rest": max(len(problems) - MOST_PROBLEMS, 0),
        "slug": slug,
    }
    return admin.page(request, "admin/catalog/application/start.html", "New application", context)


def made_of_upload(request: HttpRequest, slug: str) -> Application:
    """Raises `ContentInvalid`."""
    upload = request.FILES.get("file")
    if upload is None:
        raise ContentInvalid((NO_FILE,))
    item = application_from_upload(upload.name or "", upload.read())
    return new_from_file(item, request.user, slug=slug)


def export(admin: "ApplicationAdmin", request: HttpRequest, pk: int) -> HttpResponse:
    application = get_object_or_404(seen(request), pk=pk)
    try:
        files = exported_files(application, draft="draft" in request.GET)
    except ExportRefused as error:
        for line in error.problems[:MOST_PROBLEMS]:
            messages.error(request, f"Not exported: {line}")
        return redirect(admin.url("change", pk))
    return zip_answer(application.slug, files)
