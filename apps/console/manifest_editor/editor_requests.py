"""Serves the requests that the manifest editor sends while the user types."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from apps.catalog.review.manifests import review_text
from apps.console.manifest_editor.form_schema import form_schema
from apps.console.operator_rights import may_view_applications, visible_applications
from apps.console.studio.working_copy import draft_sources
from apps.integers import read_integer
from apps.manifest.schema.manifest_schema import manifest_schema
from apps.workspace.local.models import Secret


def for_viewers(
    view: Callable[[HttpRequest], JsonResponse],
) -> Callable[[HttpRequest], JsonResponse]:
    """Wrap the view so that it denies access to users who may not view any application."""

    @wraps(view)
    def checked(request: HttpRequest) -> JsonResponse:
        if not may_view_applications(request):
            raise PermissionDenied
        return view(request)

    return checked


@require_POST
@for_viewers
def check_manifest(request: HttpRequest) -> JsonResponse:
    """Return the errors and warnings in an edited manifest. The query parameter `row` is the ID of
    the application whose credentials are masked in the manifest.
    """
    row = request.GET.get("row", "")
    stored = visible_applications(request).filter(pk=read_integer(row) or 0).first()
    sources = [] if stored is None else draft_sources(stored)
    findings = review_text(request.POST.get("manifest", ""), sources=sources)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_GET
@for_viewers
def manifest_schemas(request: HttpRequest) -> JsonResponse:
    """Return the JSON schema of manifests, and its adaptation for the editor's form."""
    schema = manifest_schema(
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        secrets=list(Secret.objects.values_list("name", flat=True)),
    )
    return JsonResponse({"schema": schema, "form": form_schema(schema)})
