"""Serves the API for webhooks and event subscriptions. Only the response that creates a secret
contains it.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Q
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import may_manage
from apps.console.api.application_field import ApplicationField
from apps.console.api.versioned_rows import RowSerializer, RowViewSet
from apps.console.operator_rights import may_rule, of_seen, sees_all
from apps.live.sent_request_rows import READ_CONTENTS
from apps.triggers.access_problems import webhook_problem
from apps.triggers.models import TEXT_NEEDS_PERMISSION, RunEvent, Subscription, Webhook
from apps.triggers.webhook_secrets import new_secret, renew_secret, renew_signing
from apps.workspace.versions import VersionedRow

Row = TypeVar("Row", bound=VersionedRow)
NOT_YOURS = "You can create this only for applications that you edit."
NOT_YOUR_ACCOUNT = "Only users who may manage the account of the webhook can change it."
UNCHANGEABLE = "This field cannot be changed. Delete this row and create another one."
SECRET = inline_serializer("Secret", {"secret": serializers.CharField()})


@extend_schema_field(serializers.CharField())
class AccountField(serializers.SlugRelatedField[ServiceAccount]):
    """The username of a service account that the caller may manage. The error message for any other
    name does not reveal whether the account exists.
    """

    default_error_messages = {"does_not_exist": "Choose an account that you can manage."}

    def __init__(self, **options: Any) -> None:
        rows = ServiceAccount.objects.select_related("user")
        super().__init__(slug_field="user__username", queryset=rows, **options)

    def to_internal_value(self, data: Any) -> ServiceAccount:
        found: ServiceAccount = super().to_internal_value(data)
        if not may_manage(self.context["request"].user, found.user):
            self.fail("does_not_exist")
        return found


class WebhookSerializer(RowSerializer[Webhook]):
    created_secret = ""
    """The secret of a webhook that this request has created, else ""."""
    application = ApplicationField()
    account = AccountField(help_text="The username of a service account.")
    address = serializers.SerializerMethodField(
        help_text=("The path that programs send requests to.")
    )
    secret = serializers.SerializerMethodField(
        help_text=(
            "The secret that signs requests, or the API key. Returned only when the "
            "webhook is created; null afterwards."
        )
    )

    class Meta:
        model = Webhook
        fields = (
            *("id", "name", "application", "account", "check_kind", "template", "address"),
            *("conversation_kind", "requests_per_minute", "answer_minutes", "is_enabled"),
            *("problem", "secret", "version", "created_at", "updated_at"),
        )
        read_only_fields = ("problem",)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        refuse_changes(self.instance, attrs, ("application", "check_kind"))
        return attrs

    def before_save(self, row: Webhook, values: dict[str, Any]) -> None:
        if row._state.adding:
            self.created_secret = renew_secret(row)
        row.saved_by = self.context["request"].user
        row.problem = webhook_problem(row)

    def get_address(self, row: Webhook) -> str:
        return f"/hooks/{row.uuid}"

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_secret(self, row: Webhook) -> str | None:
        return self.created_secret or None


@extend_schema_field(
    {"type": "array", "minItems": 1, "items": {"type": "string", "enum": [*map(str, RunEvent)]}}
)
class EventsField(serializers.JSONField): ...


class SubscriptionSerializer(RowSerializer[Subscription]):
    created_secret = ""
    """The secret of a subscription that this request has created, else ""."""
    application = ApplicationField(
        required=False,
        allow_null=True,
        help_text=(
            "The slug of the application; null for all applications that the owner can edit."
        ),
    )
    owner = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    events = EventsField(help_text="The events to send.")
    secret = serializers.SerializerMethodField(
        help_text=(
            "The secret that signs the events. Returned only when the subscription is "
            "created; null afterwards."
        )
    )

    class Meta:
        model = Subscription
        fields = (
            *("id", "name", "owner", "application", "url", "events", "has_text", "is_enabled"),
            *("problem", "secret", "former_secret_until", "version", "created_at", "updated_at"),
        )
        read_only_fields = ("problem", "former_secret_until")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        has_text = attrs.get("has_text", self.instance is not None and self.instance.has_text)
        if has_text and not self.context["request"].user.has_perm(READ_CONTENTS):
            raise serializers.ValidationError({"has_text": TEXT_NEEDS_PERMISSION})
        return attrs

    def before_save(self, row: Subscription, values: dict[str, Any]) -> None:
        if row._state.adding:
            row.secret = self.created_secret = new_secret()
        row.saved_by = self.context["request"].user
        if row.is_enabled:
            row.problem = ""

    def create(self, validated_data: dict[str, Any]) -> Subscription:
        return super().create({**validated_data, "owner": self.context["request"].user})

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_secret(self, row: Subscription) -> str | None:
        return self.created_secret or None


def refuse_changes(stored: Any, attrs: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Raise `ValidationError` if the request changes one of the fields `names` of a stored row."""
    if stored is None:
        return
    changed = [n for n in names if n in attrs and attrs[n] != getattr(stored, n)]
    if changed:
        raise serializers.ValidationError(dict.fromkeys(changed, UNCHANGEABLE))


class OperatedViewSet(RowViewSet[Row]):
    """Webhooks and subscriptions of the applications that the caller can edit."""

    lookup_value_regex = "[0-9]{1,18}"

    def new_secret(self, row: Row) -> str:
        """Set a new secret on the row without saving it, and return the secret."""
        raise NotImplementedError

    def may_rule(self, request: Request, row: Any) -> bool:
        return may_rule(request, row.application)

    def check_object_permissions(self, request: Request, obj: Any) -> None:
        super().check_object_permissions(request, obj)
        if request.method not in SAFE_METHODS and not self.may_rule(request, obj):
            self.permission_denied(request, NOT_YOURS)

    @extend_schema(request=None, responses=SECRET)
    @action(detail=True, methods=["post"], url_path="secret")
    def renew_secret(self, request: Request, pk: str) -> Response:
        """Create a new secret. The previous secret for a webhook becomes invalid at once.
        Deliveries to a subscription are also signed with the previous secret until
        `former_secret_until`.
        """
        row: Any = self.get_object()
        meta = row._meta
        if not request.user.has_perm(f"{meta.app_label}.change_{meta.model_name}"):
            self.permission_denied(request)
        secret = self.new_secret(row)
        row.saved_by = request.user
        row.save()
        return Response({"secret": secret, "version": row.version})


class WebhookViewSet(OperatedViewSet[Webhook]):
    queryset = Webhook.objects.select_related("application", "account__user").order_by("pk")
    serializer_class = WebhookSerializer

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(of_seen(self.request, "application__slug"))

    def check_object_permissions(self, request: Request, obj: Webhook) -> None:
        """Require permission to manage the webhook's account, because the webhook sends messages
        as that account.
        """
        super().check_object_permissions(request, obj)
        harmless = (*SAFE_METHODS, "DELETE")
        if request.method not in harmless and not may_manage(request.user, obj.account.user):
            self.permission_denied(request, NOT_YOUR_ACCOUNT)

    def new_secret(self, row: Webhook) -> str:
        return renew_secret(row)


class SubscriptionViewSet(OperatedViewSet[Subscription]):
    queryset = Subscription.objects.select_related("application", "owner").order_by("pk")
    serializer_class = SubscriptionSerializer

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        if sees_all(self.request.user):
            return rows
        mine = Q(application=None, owner=self.request.user.pk)
        return rows.filter(mine | of_seen(self.request, "application__slug"))

    def may_rule(self, request: Request, row: Subscription) -> bool:
        if row.application is None and row.owner_id == request.user.pk:
            return True
        return may_rule(request, row.application)

    def new_secret(self, row: Subscription) -> str:
        return renew_signing(row)
