"""Serves the API for API keys. Only the response that creates a key contains its value."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, viewsets

from apps.accounts.client_address import address_of
from apps.accounts.keys.changes import KeyEvent, record_key
from apps.accounts.models import ApiKey, Team
from apps.catalog.acting_accounts import manageable
from apps.catalog.models import Application
from apps.console.admin.govern.keys import is_member, offered_applications
from apps.console.api.datetime_fields import FIELD_MAPPING
from apps.console.api.strict_serializers import StrictModelSerializer
from apps.console.giving import may_change_key
from apps.console.operator_rights import edits_all, sees_all

UNCHANGEABLE = "This field cannot be changed. Revoke this key and create another one."
ONLY_OWN = "You can create keys only for yourself."
UNMANAGED = "You cannot manage this account, so you cannot create or change its keys."
IS_REVOKED = "The key is permanently revoked."


@extend_schema_field(serializers.CharField())
class TeamField(serializers.SlugRelatedField[Team]):
    """The name of the key's team. Callers who cannot edit all applications can choose only their
    own teams.
    """

    def get_queryset(self) -> Any:
        rows: Any = super().get_queryset()
        user = self.context["request"].user
        return rows if edits_all(user) else rows.filter(group__user=user.pk)


class UserField(serializers.SlugRelatedField[User]):
    """The username of an account that the caller may manage. The error message for any other name
    does not reveal whether the account exists.
    """

    default_error_messages = {"does_not_exist": UNMANAGED}

    def get_queryset(self) -> Any:
        user = self.context["request"].user
        return manageable(user) if edits_all(user) else User.objects.filter(pk=user.pk)


class ApiKeySerializer(StrictModelSerializer[ApiKey]):
    created_key = ""
    """The secret of a key that this request has created, else ""."""
    serializer_field_mapping = FIELD_MAPPING
    user = UserField(
        slug_field="username",
        queryset=User.objects.all(),
        allow_null=True,
        required=False,
        help_text="The user whose permissions the key has; null for a key of the installation.",
    )
    team = TeamField(
        slug_field="group__name",
        queryset=Team.objects.all(),
        allow_null=True,
        required=False,
    )
    applications = serializers.SlugRelatedField(
        slug_field="slug",
        queryset=Application.objects.all(),
        many=True,
        required=False,
        help_text=(
            "The slugs of the applications that the key can use; if empty, all "
            "applications that its user can use."
        ),
    )
    key = serializers.SerializerMethodField(
        help_text="The key itself. Returned only when the key is created; null afterwards."
    )

    class Meta:
        model = ApiKey
        fields: Sequence[str] = (
            *("prefix", "name", "user", "team", "applications", "is_limited", "expiry_date"),
            *("requests_per_minute", "tokens_per_minute", "revoked", "key"),
            *("created", "last_used_at"),
        )
        read_only_fields = ("prefix", "created", "last_used_at")
        extra_kwargs = {"name": {"required": True}}

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_key(self, row: ApiKey) -> str | None:
        return self.created_key or None

    def validate_expiry_date(self, value: datetime | None) -> datetime | None:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This date is in the past. Choose a future date.")
        return value

    def validate_applications(self, value: list[Application]) -> list[Application]:
        numbers = [row.pk for row in value]
        offered = offered_applications(self.context["request"]).filter(pk__in=numbers).order_by()
        hidden = set(numbers) - set(offered.values_list("pk", flat=True))
        if hidden:
            slug = next(row.slug for row in value if row.pk in hidden)
            raise serializers.ValidationError(f"Object with slug={slug} does not exist.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("applications"):
            attrs["is_limited"] = True  # The key stays limited when its applications are deleted.
        user = self.context["request"].user
        if isinstance(self.instance, ApiKey):
            refuse_changes(self.instance, attrs)
            if attrs.keys() - {"revoked"} and not may_change_key(user, self.instance):
                raise serializers.ValidationError({"user": UNMANAGED})
            return attrs
        if not edits_all(user):
            attrs.setdefault("user", user)
            if attrs["user"] != user:
                raise serializers.ValidationError({"user": ONLY_OWN})
        team = attrs.get("team")
        if team is not None and not is_member(attrs.get("user"), team):
            raise serializers.ValidationError(
                {"team": ("The user of the key is not a member of this team.")}
            )
        return attrs

    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> ApiKey:
        applications = validated_data.pop("applications", [])
        request = self.context["request"]
        row = ApiKey(**validated_data, created_by=request.user)
        self.created_key = ApiKey.objects.assign_key(row)
        row.save()
        row.applications.set(applications)
        record_key("key.created", row, request.user, address_of(request))
        return row

    @transaction.atomic
    def update(self, instance: ApiKey, validated_data: dict[str, Any]) -> ApiKey:
        is_revocation = validated_data.get("revoked", False) and not instance.revoked
        request = self.context["request"]
        row = super().update(instance, validated_data)
        if validated_data:
            event: KeyEvent = "key.revoked" if is_revocation else "key.changed"
            record_key(event, row, request.user, address_of(request))
        return row


def refuse_changes(stored: ApiKey, attrs: dict[str, Any]) -> None:
    """Raise `ValidationError` if the values change the user or team, or undo a revocation."""
    changed = [
        name
        for name in ("user", "team")
        if attrs.get(name, getattr(stored, name)) != getattr(stored, name)
    ]
    if changed:
        raise serializers.ValidationError(dict.fromkeys(changed, UNCHANGEABLE))
    if stored.revoked and not attrs.get("revoked", True):
        raise serializers.ValidationError({"revoked": IS_REVOKED})


class ApiKeyViewSet(viewsets.ModelViewSet[ApiKey]):
    """API keys. Users who cannot see all applications see only their own keys."""

    queryset = (
        ApiKey.objects.select_related("user", "team__group")
        .prefetch_related("applications")
        .order_by("-created", "prefix")
    )
    serializer_class = ApiKeySerializer
    lookup_field = "prefix"
    lookup_value_regex = "[A-Za-z0-9]+"
    http_method_names: Sequence[str] = ("get", "head", "options", "post", "patch", "delete")

    def get_queryset(self) -> Any:
        rows, user = super().get_queryset(), self.request.user
        return rows if sees_all(user) else rows.filter(user=user.pk)

    @transaction.atomic
    def perform_destroy(self, instance: ApiKey) -> None:
        record_key("key.revoked", instance, self.request.user, address_of(self.request))
        super().perform_destroy(instance)
