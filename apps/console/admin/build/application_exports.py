"""Exports an application from the admin as a ZIP file."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from apps.catalog.application_files.exporter import ExportRefused, exported_files
from apps.catalog.models import Application
from apps.console.admin.theme import Admin
from apps.console.application_archives import zip_answer
from apps.console.operator_rights import visible_applications

MOST_PROBLEMS = 20


def export_application(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    application = get_object_or_404(visible_applications(request), pk=pk)
    try:
        files = exported_files(application, draft="draft" in request.GET)
    except ExportRefused as error:
        for line in error.problems[:MOST_PROBLEMS]:
            messages.error(request, f"Not exported: {line}")
        return redirect("studio:page", pk)
    return zip_answer(application.slug, files)
