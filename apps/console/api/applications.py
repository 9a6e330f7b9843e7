from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.actions import archive
from apps.catalog.application_files import managed_files
from apps.catalog.application_files.archives import zip_answer
from apps.catalog.application_files.exporter import ExportRefused, exported_files
from apps.catalog.application_files.models import managed_refusal
from apps.catalog.models import Application, Role
from apps.catalog.versions.states import with_drafts
from apps.console.api.application_serializers import (
    ApplicationSerializer,
    ListedApplicationSerializer,
)
from apps.console.api.grants import (
    GRANT_QUERY,
    GrantPermission,
    GrantSerializer,
    changed_grants,
    listed_grants,
)
from apps.console.api.problems import RowInvalid
from apps.console.api.versioned_rows import IF_MATCH, RowViewSet, check_version
from apps.console.api.versions import VersionActions
from apps.console.operator_rights import has_role, visible_applications
from apps.manifest.problems import ROOT, Problem

DRAFT = OpenApiParameter(
    "draft",
    OpenApiTypes.BOOL,
    OpenApiParameter.QUERY,
    description="Create only a draft, which answers no requests until it is published.",
)
EXPORT_DRAFT = OpenApiParameter(
    "draft", bool, description=("Export the draft instead of the live version.")
)


@extend_schema_view(
    list=extend_schema(responses=ListedApplicationSerializer(many=True)),
    create=extend_schema(parameters=[DRAFT]),
)
class ApplicationViewSet(VersionActions, RowViewSet[Application]):
    queryset = Application.objects.select_related("owner").order_by("slug")
    serializer_class = ApplicationSerializer
    lookup_field = "slug"

    def get_queryset(self) -> Any:
        managed_files.refresh()
        rows = (
            super()
            .get_queryset()
            .filter(pk__in=visible_applications(self.request).order_by().values("pk"))
        )
        rows = with_drafts(rows)
        return rows.defer("manifest") if self.action == "list" else rows

    def get_serializer_class(self) -> type[ListedApplicationSerializer]:
        return ListedApplicationSerializer if self.action == "list" else ApplicationSerializer

    def check_object_permissions(self, request: Request, obj: Application) -> None:
        super().check_object_permissions(request, obj)
        least = Role.OWNER if request.method == "DELETE" else Role.EDITOR
        if request.method not in SAFE_METHODS and not has_role(request, obj, least):
            action = "delete" if least is Role.OWNER else "change"
            whose = f"{least.label.lower()}s"
            self.permission_denied(request, f"Only {whose} of the application can {action} it.")
        if request.method not in SAFE_METHODS and (refusal := managed_refusal(obj.pk)):
            self.permission_denied(request, refusal)

    def perform_destroy(self, instance: Application) -> None:
        """Archive the application. Its conversations, files, usage and versions are retained."""
        check_version(self.request, instance)
        archive.execute(instance)

    @extend_schema(responses=GrantSerializer(many=True))
    @action(
        detail=True, permission_classes=[GrantPermission], pagination_class=None, filter_backends=[]
    )
    def grants(self, request: Request, slug: str) -> Response:
        return listed_grants(self.get_object())

    @extend_schema(
        request=GrantSerializer(many=True),
        responses=GrantSerializer(many=True),
        parameters=[IF_MATCH],
    )
    @grants.mapping.put
    def replace_grants(self, request: Request, slug: str) -> Response:
        return changed_grants(request, self.get_object())

    @extend_schema(
        request=GrantSerializer, responses=GrantSerializer(many=True), parameters=[IF_MATCH]
    )
    @grants.mapping.post
    def add_grant(self, request: Request, slug: str) -> Response:
        return changed_grants(request, self.get_object())

    @extend_schema(responses=GrantSerializer(many=True), parameters=[IF_MATCH, *GRANT_QUERY])
    @grants.mapping.delete
    def remove_grant(self, request: Request, slug: str) -> Response:
        return changed_grants(request, self.get_object())

    @extend_schema(
        responses={(200, "application/zip"): OpenApiTypes.BINARY}, parameters=[EXPORT_DRAFT]
    )
    @action(detail=True, pagination_class=None, filter_backends=[])
    def export(self, request: Request, slug: str) -> HttpResponse:
        """Return a ZIP file with `application.yaml` and the application's other files. Test cases
        that were created from real runs are omitted.
        """
        application = self.get_object()
        is_draft = request.query_params.get("draft", "").lower() in {"1", "true"}
        try:
            files = exported_files(application, draft=is_draft)
        except ExportRefused as error:
            raise RowInvalid([Problem(ROOT, line) for line in error.problems]) from error
        return zip_answer(application.slug, files)
