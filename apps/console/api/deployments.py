"""Serves the API for deployments. Clients can set and remove API keys, but not read them."""

from typing import Any

from rest_framework import serializers

from apps.catalog.content.installed import installed_content
from apps.catalog.credentials.review import (
    KEY_FIELDS,
    KEY_PERMISSION,
    STAYS_THERE,
    TYPE_AGAIN,
    has_moved,
    may_keep_key,
)
from apps.catalog.uses import deployment_uses
from apps.console.admin.rows.dependents import dependent_names
from apps.console.api.problems import RowInUse
from apps.console.api.versioned_rows import RowSerializer, RowViewSet
from apps.workspace.local.models import Deployment
from apps.workspace.model_capabilities import CAPABILITIES

NO_KEYS = "You need the permission to set the keys of deployments."


class DeploymentSerializer(RowSerializer[Deployment]):
    api_key = serializers.CharField(
        write_only=True,
        required=False,
        allow_blank=True,
        help_text=(
            'A new key. It replaces the stored key; "" removes the stored key. Omit the '
            "field to keep the stored key."
        ),
    )
    has_api_key = serializers.SerializerMethodField(help_text="True if a key is stored.")
    features = serializers.DictField(required=False)
    parameters = serializers.DictField(required=False)
    fallbacks = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=(
            "The IDs of the fallback deployments, tried in this order if this deployment fails."
        ),
    )
    input_attachment_types = serializers.ListField(child=serializers.CharField(), required=False)

    class Meta:
        model = Deployment
        fields = (
            "deployment_id",
            "display_name",
            "description",
            "kind",
            "provider",
            "base_url",
            "model_name",
            "api_key",
            "has_api_key",
            "api_key_env",
            "takes_personal_keys",
            "features",
            "input_attachment_types",
            "text_tools",
            *CAPABILITIES,
            "parameters",
            "fallbacks",
            "is_enabled",
            "version",
            "created_at",
            "updated_at",
        )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        stored = self.instance
        if not self.context["request"].user.has_perm(KEY_PERMISSION):
            self.refuse_keys(stored if isinstance(stored, Deployment) else Deployment(), attrs)
        elif isinstance(stored, Deployment) and "api_key" not in attrs:
            provider = attrs.get("provider", stored.provider)
            if not may_keep_key(stored, provider, attrs.get("base_url", stored.base_url)):
                raise serializers.ValidationError({"api_key": TYPE_AGAIN})
        return attrs

    def refuse_keys(self, stored: Deployment, attrs: dict[str, Any]) -> None:
        """Raise `ValidationError` if the request sets or redirects a key."""
        refused = [
            name
            for name in ("api_key", *KEY_FIELDS)
            if attrs.get(name, getattr(stored, name)) != getattr(stored, name)
        ]
        if refused:
            raise serializers.ValidationError(dict.fromkeys(refused, NO_KEYS))
        service = (attrs.get(name, getattr(stored, name)) for name in ("provider", "base_url"))
        if has_moved(stored, *service):
            raise serializers.ValidationError({"base_url": STAYS_THERE})

    def get_has_api_key(self, deployment: Deployment) -> bool:
        return bool(deployment.api_key)


class DeploymentViewSet(RowViewSet[Deployment]):
    queryset = Deployment.objects.order_by("deployment_id")
    serializer_class = DeploymentSerializer
    lookup_field = "deployment_id"
    lookup_value_regex = "[A-Za-z0-9][A-Za-z0-9._-]*"

    def perform_destroy(self, instance: Deployment) -> None:
        """Delete the deployment. Raises `RowInUse` if applications or predefined items use it."""
        if users := deployment_uses(installed_content()).get(instance.deployment_id, []):
            names = dependent_names(self.request, users)
            raise RowInUse(
                f"The deployment is used by {names}. Choose a different deployment there first."
            )
        super().perform_destroy(instance)
