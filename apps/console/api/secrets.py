"""Serves the API for secrets. Clients can write their values, but not read them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from apps.catalog.content.installed import installed_content
from apps.catalog.uses import secret_uses
from apps.console.admin.connect.secret_form import (
    MOST_CHARACTERS,
    NO_VAULT,
    TYPE_AGAIN,
    TYPE_VALUE_OR_PATH,
    is_for_more,
)
from apps.console.admin.connect.secrets import ANYWHERE
from apps.console.admin.rows.dependents import dependent_names
from apps.console.api.problems import RowInUse
from apps.console.api.versioned_rows import RowSerializer, RowViewSet
from apps.workspace.local.models import Secret

FIXED = "This field cannot be changed, because manifests refer to it. Create another secret."
NO_ANYWHERE = "You need the permission to allow secrets to be sent to any server."


@extend_schema_serializer(component_name="StoredSecret")
class SecretSerializer(RowSerializer[Secret]):
    value = serializers.CharField(
        write_only=True,
        required=False,
        trim_whitespace=False,
        max_length=MOST_CHARACTERS,
        help_text=(
            "The value, which is stored encrypted and never returned. Required for a new secret. Omit the field to keep the stored value."
        ),
    )
    servers = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=(
            "The servers that the secret can be sent to, such as `api.example.com` or `*.example.com`."
        ),
    )

    class Meta:
        model = Secret
        fields = (
            *("name", "value", "is_in_vault", "description", "servers", "is_for_any_server"),
            *("rotated_at", "version", "created_at", "updated_at"),
        )
        read_only_fields = ("rotated_at",)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        stored = self.instance if isinstance(self.instance, Secret) else None
        if stored is None and not attrs.get("value"):
            raise serializers.ValidationError({"value": "Required for a new secret."})
        if stored is not None and attrs.get("name", stored.name) != stored.name:
            raise serializers.ValidationError({"name": FIXED})
        user = self.context["request"].user
        was = stored is not None and stored.is_for_any_server
        if attrs.get("is_for_any_server", was) and not was and not user.has_perm(ANYWHERE):
            raise serializers.ValidationError({"is_for_any_server": NO_ANYWHERE})
        servers = attrs.get("servers", () if stored is None else stored.servers)
        anywhere = attrs.get("is_for_any_server", was)
        if stored is not None and "value" not in attrs and is_for_more(stored, servers, anywhere):
            raise serializers.ValidationError({"value": TYPE_AGAIN})
        was_in_vault = stored is not None and stored.is_in_vault
        is_in_vault = attrs.get("is_in_vault", was_in_vault)
        if stored is not None and is_in_vault != was_in_vault and "value" not in attrs:
            raise serializers.ValidationError({"value": TYPE_VALUE_OR_PATH})
        if is_in_vault and "value" in attrs and not user.has_perm(ANYWHERE):
            raise serializers.ValidationError({"is_in_vault": NO_VAULT})
        return attrs

    def before_save(self, row: Secret, values: dict[str, Any]) -> None:
        user = self.context["request"].user
        row.changed_by_id = user.pk
        if row._state.adding:
            row.created_by_id = user.pk
        if "value" in values:
            row.rotated_at = timezone.now()


class SecretViewSet(RowViewSet[Secret]):
    queryset = Secret.objects.order_by("name")
    serializer_class = SecretSerializer
    lookup_field = "name"
    lookup_value_regex = "[A-Za-z0-9._-]+"

    def perform_destroy(self, instance: Secret) -> None:
        """Delete the secret. Raises `RowInUse` if a manifest uses it."""
        if users := secret_uses(installed_content()).get(instance.name, []):
            names = dependent_names(self.request, users)
            raise RowInUse(f"The secret is used by {names}. Remove it there first.")
        super().perform_destroy(instance)
