"""Serves the API for schedules. The messages of users' schedules are private."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import Team
from apps.console.api.application_field import ApplicationField
from apps.console.api.datetime_fields import FIELD_MAPPING
from apps.console.api.problems import RowInvalid, problems_of_row
from apps.console.api.strict_serializers import StrictModelSerializer
from apps.console.api.webhooks import UNCHANGEABLE, AccountField, refuse_changes
from apps.console.operated_schedules import (
    is_ruled,
    may_change_schedule,
    new_of_account,
    pause_schedule,
    resume_schedule,
    save_change,
)
from apps.console.operator_rights import may_rule, of_seen
from apps.schedules import proposals, user_schedules
from apps.schedules.models import Schedule
from apps.triggers.access_problems import note_access

OWNER_FIELDS = ("name", "message", "is_same_conversation", "pinned_version")
NOT_CHANGEABLE = (
    "The schedule cannot be changed, because it is an alarm or belongs to an account that you may not "
    "manage."
)
OWNER_ONLY = "Only the owner of the schedule can resume it."


class ScheduleSerializer(StrictModelSerializer[Schedule]):
    """A schedule. `name` and `message` are null, except for the caller's own schedules and the
    schedules of service accounts that the caller may manage.
    """

    serializer_field_mapping = FIELD_MAPPING
    application = ApplicationField()
    account = AccountField(
        write_only=True, required=False, help_text="The username of a service account."
    )
    user = serializers.CharField(source="user.username", read_only=True)
    team = serializers.StringRelatedField[Team]()
    runs = serializers.CharField(
        source="words", read_only=True, help_text="The times of the runs, in words."
    )
    next_at = serializers.SerializerMethodField(
        help_text="The time of the next run; null if the schedule is paused."
    )
    differences = serializers.SerializerMethodField(
        help_text="The changes waiting for the owner's consent: `label`, `before`, `after`."
    )

    class Meta:
        model = Schedule
        fields = (
            *("id", "application", "account", "user", "team", "is_alarm", "made_by", *OWNER_FIELDS),
            *("runs", *proposals.CHANGEABLE, "next_at", "last_at", "run_count"),
            *("is_paused", "pause_reason", "differences", "last_problem", "last_run", "created_at"),
        )
        read_only_fields = (
            *("id", "is_alarm", "made_by", "last_at", "run_count", "pause_reason"),
            *("last_problem", "last_run", "created_at"),
        )

    def to_representation(self, instance: Schedule) -> dict[str, Any]:
        told = super().to_representation(instance)
        if not is_ruled(self.context["request"].user, instance):
            told |= dict.fromkeys(("name", "message"))
        return told

    @extend_schema_field(OpenApiTypes.DATETIME)
    def get_next_at(self, row: Schedule) -> Any:
        return None if row.is_paused else row.next_at

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_differences(self, row: Schedule) -> Any:
        names = ("label", "before", "after")
        return [{n: getattr(one, n) for n in names} for one in proposals.proposed_changes(row)]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        row, operator = self.instance, self.context["request"].user
        if row is None:
            if "account" not in attrs:
                raise serializers.ValidationError({"account": "Choose a service account."})
            return attrs
        if "account" in attrs:
            raise serializers.ValidationError({"account": UNCHANGEABLE})
        refuse_changes(row, attrs, ("application",))
        fields = attrs.keys() - {"is_paused"}
        if fields and not may_change_schedule(operator, row):
            raise serializers.ValidationError(NOT_CHANGEABLE)
        if is_ruled(operator, row):
            return attrs
        if attrs.get("is_paused") is False:
            raise serializers.ValidationError({"is_paused": OWNER_ONLY})
        if fields & {*OWNER_FIELDS}:
            raise serializers.ValidationError("Only the owner can change the message.")
        return attrs

    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> Schedule:
        account = validated_data.pop("account")
        is_paused = validated_data.pop("is_paused", False)
        row = new_of_account(account, self.context["request"].user)
        set_fields(row, validated_data)
        note_access(row)
        try:
            added = user_schedules.add(row)
        except ValidationError as error:
            raise RowInvalid(problems_of_row(error)) from error
        if is_paused:
            pause_schedule(added)
        return added

    @transaction.atomic
    def update(self, instance: Schedule, validated_data: dict[str, Any]) -> Schedule:
        wishes_pause = validated_data.pop("is_paused", None)
        if validated_data:
            set_fields(instance, validated_data)
            try:
                save_change(instance, self.context["request"].user)
            except ValidationError as error:
                raise RowInvalid(problems_of_row(error)) from error
            instance.refresh_from_db()
        if wishes_pause and not instance.is_paused:
            pause_schedule(instance)
        elif wishes_pause is False and instance.is_paused:
            resume_schedule(instance, self.context["request"].user)
        return instance


def set_fields(row: Schedule, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)


class ScheduleViewSet(viewsets.ModelViewSet[Schedule]):
    """Schedules. Callers can create schedules for service accounts only. A change to a user's
    schedule takes effect when the user accepts it.
    """

    queryset = Schedule.objects.select_related(
        "application", "user__service_account", "team__group"
    ).order_by("pk")
    serializer_class = ScheduleSerializer
    http_method_names = ["get", "head", "options", "post", "patch", "delete"]
    lookup_value_regex = "[0-9a-f-]{36}"

    def get_queryset(self) -> Any:
        rows, mine = super().get_queryset(), Q(user=self.request.user.pk)
        if self.action in ("agree", "take_back"):
            return rows.filter(mine)
        return rows.filter(of_seen(self.request, "application__slug"))

    def check_object_permissions(self, request: Request, obj: Any) -> None:
        super().check_object_permissions(request, obj)
        if self.action == "partial_update" and not may_rule(request, obj.application):
            self.permission_denied(request)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"], permission_classes=[IsAdminUser])
    def agree(self, request: Request, pk: str) -> Response:
        """Accept an operator's proposed changes to the caller's own schedule."""
        try:
            row = proposals.accept_proposal(self.get_object())
        except ValidationError as error:
            raise RowInvalid(problems_of_row(error)) from error
        return Response(self.get_serializer(row).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"], url_path="take-back", permission_classes=[IsAdminUser])
    def take_back(self, request: Request, pk: str) -> Response:
        """Reject an operator's proposed changes to the caller's own schedule."""
        row = self.get_object()
        proposals.discard_proposal(row)
        return Response(self.get_serializer(row).data)
