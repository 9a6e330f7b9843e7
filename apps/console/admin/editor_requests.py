"""The requests of the manifest editor while somebody types."""

from dataclasses import asdict

from django.conf import settings
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from apps.catalog.review import review_text
from apps.console.admin.form_schema import form_schema
from apps.console.operated import seen
from apps.integers import read_integer
from apps.manifest.schema import manifest_schema
from apps.workspace.local.models import Secret

may_view = permission_required("catalog.view_application", raise_exception=True)


@require_POST
@may_view
def check_manifest(request: HttpRequest) -> JsonResponse:
    """The findings for a typed manifest; `row` is the application with its masked credentials."""
    row = request.GET.get("row", "")
    stored = seen(request).filter(pk=read_integer(row) or 0)
    sources = [application.manifest for application in stored]
    findings = review_text(request.POST.get("manifest", ""), sources=sources)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_GET
@may_view
def manifest_schemas(request: HttpRequest) -> JsonResponse:
    """The JSON Schema of manifests, and its rewriting for the form."""
    schema = manifest_schema(
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        secrets=list(Secret.objects.values_list("name", flat=True)),
    )
    return JsonResponse({"schema": schema, "form": form_schema(schema)})
