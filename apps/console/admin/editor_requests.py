"""The requests of the manifest editor while somebody types."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from apps.catalog.review import review_text
from apps.console.admin.form_schema import form_schema
from apps.console.operated import may_view_applications, seen
from apps.integers import read_integer
from apps.manifest.schema import manifest_schema
from apps.workspace.local.models import Secret


def for_viewers(
    view: Callable[[HttpRequest], JsonResponse],
) -> Callable[[HttpRequest], JsonResponse]:
    """Refuse people who may view no application."""

    @wraps(view)
    def checked(request: HttpRequest) -> JsonResponse:
        if not may_view_applications(request):
            raise PermissionDenied
        return view(request)

    return checked


@require_POST
@for_viewers
def check_manifest(request: HttpRequest) -> JsonResponse:
    """The findings for a typed manifest; `row` is the application with its masked credentials."""
    row = request.GET.get("row", "")
    stored = seen(request).filter(pk=read_integer(row) or 0)
    sources = [application.manifest for application in stored]
    findings = review_text(request.POST.get("manifest", ""), sources=sources)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_GET
@for_viewers
def manifest_schemas(request: HttpRequest) -> JsonResponse:
    """The JSON Schema of manifests, and its rewriting for the form."""
    schema = manifest_schema(
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        secrets=list(Secret.objects.values_list("name", flat=True)),
    )
    return JsonResponse({"schema": schema, "form": form_schema(schema)})
