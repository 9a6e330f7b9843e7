"""Serves the API for MCP servers that run as programs on this machine. Only superusers have access,
because the settings determine which program runs.
"""

import json
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.console.admin.connect.mcp_sessions import may_administer
from apps.console.admin.connect.mcp_uses import users_of_program
from apps.console.admin.rows.dependents import dependent_names
from apps.console.api.problems import RowInUse
from apps.console.api.versioned_rows import RowSerializer, RowViewSet
from apps.workspace.local.models import McpServer


class AdministratorOnly(BasePermission):
    """Allows only superusers who are active staff."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return may_administer(request)


class McpServerSerializer(RowSerializer[McpServer]):
    arguments = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)
    environment = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        write_only=True,
        required=False,
        help_text=(
            "Additional environment variables of the server. The object replaces all "
            "stored variables; `{}` removes them all. Omit the field to keep the "
            "stored variables."
        ),
    )
    variables = serializers.SerializerMethodField(
        help_text="The names of the stored variables; values are never returned."
    )

    class Meta:
        model = McpServer
        fields = (
            *("name", "command", "arguments", "working_directory", "environment", "variables"),
            *("is_enabled", "version", "created_at", "updated_at"),
        )

    def validate_environment(self, value: dict[str, str]) -> str:
        return json.dumps(value) if value else ""

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_variables(self, row: McpServer) -> Sequence[str]:
        try:
            return sorted(row.parsed_environment())
        except ValueError:
            return []


class McpServerViewSet(RowViewSet[McpServer]):
    queryset = McpServer.objects.order_by("name")
    serializer_class = McpServerSerializer
    permission_classes = (AdministratorOnly,)
    lookup_field = "name"
    lookup_value_regex = "[A-Za-z0-9][A-Za-z0-9._-]*"

    def perform_destroy(self, instance: McpServer) -> None:
        """Delete the server. Raises `RowInUse` if applications use its tools."""
        if users := users_of_program(instance):
            names = dependent_names(self.request, users)
            raise RowInUse(f"The server is used by {names}. Remove it there first.")
        super().perform_destroy(instance)
