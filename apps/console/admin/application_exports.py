"""The export of an application in the admin."""

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from apps.catalog.application_files.exporter import ExportRefused, exported_files
from apps.console.application_archives import zip_answer
from apps.console.operated import seen

if TYPE_CHECKING:
    from apps.console.admin.applications import ApplicationAdmin

MOST_CLONED = 200
"""Applications in the list of what can be cloned."""
MOST_PROBLEMS = 20
NO_FILE = "Choose a file first."


def export(admin: "ApplicationAdmin", request: HttpRequest, pk: int) -> HttpResponse:
    application = get_object_or_404(seen(request), pk=pk)
    try:
        files = exported_files(application, draft="draft" in request.GET)
    except ExportRefused as error:
        for line in error.problems[:MOST_PROBLEMS]:
            messages.error(request, f"Not exported: {line}")
        return redirect(admin.url("change", pk))
    return zip_answer(application.slug, files)
