"""What the manifest editor asks the server while somebody types."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from apps.catalog.models import Application
from apps.catalog.review import review_text
from apps.console.admin.form_schema import form_schema
from apps.manifest.schema import manifest_schema
from apps.workspace.local.models import Secret

VIEW = "catalog.view_application"


@require_POST
def check_manifest(request: HttpRequest) -> JsonResponse:
    """The findings for the text in the field `manifest`, as in `apps.catalog.review`.

    `row` is the number of the application that has what is hidden in the text.
    """
    if not request.user.has_perm(VIEW):
        raise PermissionDenied
    row = request.GET.get("row", "")
    stored = Application.objects.filter(pk=row) if row.isascii() and row.isdecimal() else ()
    sources = [application.manifest for application in stored]
    findings = review_text(request.POST.get("manifest", ""), sources=sources)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_GET
def describe_manifest(request: HttpRequest) -> JsonResponse:
    """The schema of manifests, as it is and as the form wants it."""
    if not request.user.has_perm(VIEW):
        raise PermissionDenied
    schema = manifest_schema(
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        secrets=list(Secret.objects.values_list("name", flat=True)),
    )
    return JsonResponse({"schema": schema, "form": form_schema(schema)})
