"""Serves `/api/applications/{slug}/export/`, which returns an application as a ZIP file."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request

from apps.catalog.application_files.exporter import ExportRefused, exported_files
from apps.console.api.problems import RowInvalid
from apps.console.application_archives import zip_answer
from apps.manifest.problems import ROOT, Problem

DRAFT = OpenApiParameter(
    "draft", bool, description=("Export the draft instead of the live version.")
)


class ExportAction:
    get_object: Any

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY}, parameters=[DRAFT])
    @action(detail=True, pagination_class=None, filter_backends=[])
    def export(self, request: Request, slug: str) -> HttpResponse:
        """Return a ZIP file with `application.yaml` and the other files of the application. Omits
        test cases that were created from real runs.
        """
        application = self.get_object()
        is_draft = request.query_params.get("draft", "").lower() in {"1", "true"}
        try:
            files = exported_files(application, draft=is_draft)
        except ExportRefused as error:
            raise RowInvalid([Problem(ROOT, line) for line in error.problems]) from error
        return zip_answer(application.slug, files)
