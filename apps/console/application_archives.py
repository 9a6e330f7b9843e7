"""Writes the files of an application to a ZIP file, for the admin and the API."""

from collections.abc import Mapping

from django.http import HttpResponse

from apps.catalog.application_files.archives import archive


def zip_answer(slug: str, files: Mapping[str, bytes]) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{slug}.zip"'}
    return HttpResponse(archive(files), content_type="application/zip", headers=headers)
