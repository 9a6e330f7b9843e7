"""Schedules for scripts: when they run, not what they ask, which is their person's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import mixins, serializers, viewsets

from apps.accounts.models import Team
from apps.console.operated import of_seen
from apps.schedules.models import Schedule

OF_OPERATORS = "An operator paused it."


class ScheduleSerializer(serializers.ModelSerializer[Schedule]):
    application = serializers.CharField(source="application.slug", read_only=True)
    user = serializers.CharField(source="user.username", read_only=True)
    team = serializers.StringRelatedField[Team]()
    runs = serializers.CharField(source="words", read_only=True, help_text="When, in words.")
    next_at = serializers.SerializerMethodField(help_text="Null while it is paused.")

    class Meta:
        model = Schedule
        fields: Sequence[str] = (
            *("id", "application", "user", "team", "is_alarm", "made_by", "runs", "time_zone"),
            *("next_at", "last_at", "run_count", "max_runs", "budget_tokens", "budget_money"),
            *("is_paused", "pause_reason", "last_run", "created_at"),
        )
        read_only_fields = tuple(name for name in fields if name != "is_paused")

    @extend_schema_field(OpenApiTypes.DATETIME)
    def get_next_at(self, row: Schedule) -> datetime | None:
        return None if row.is_paused else row.next_at

    def validate_is_paused(self, value: bool) -> bool:
        if not value:
            raise serializers.ValidationError("Its owner alone lets it go on, on the page.")
        return value

    def update(self, instance: Schedule, validated_data: dict[str, Any]) -> Schedule:
        if validated_data.get("is_paused") and not instance.is_paused:
            instance.pause(OF_OPERATORS)
            instance.save()
        return instance


class ScheduleViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Schedule],
):
    """Listed, paused and deleted; people alone make them."""

    queryset = Schedule.objects.select_related("application", "user", "team__group").order_by("pk")
    serializer_class = ScheduleSerializer
    http_method_names: Sequence[str] = ("get", "head", "options", "patch", "delete")
    lookup_value_regex = "[0-9a-f-]{36}"

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(of_seen(self.request, "application__slug"))
