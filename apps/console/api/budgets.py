"""Serves the API for budgets, with their limits and their current usage."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from apps.accounts.models import ApiKey, Team
from apps.catalog.models import Application
from apps.console.api.versioned_rows import RowSerializer, RowViewSet
from apps.console.operator_rights import may_rule, of_seen, visible_applications
from apps.insights.budgets.budget_usage import BudgetStatus, budget_statuses
from apps.insights.budgets.models import FIXED, Budget

NOT_YOURS = "Choose an application that you can edit."
UNCHANGEABLE = "This field cannot be changed. Delete this budget and create another one."
SUBJECTS: Mapping[str, tuple[str, Any, str]] = {
    "user": ("user", get_user_model(), "username"),
    "team": ("team", Team, "group__name"),
    "key": ("key", ApiKey, "prefix"),
    "application": ("application", Application, "slug"),
    "run": ("application", Application, "slug"),
}
"""The budget's field, the model, and the lookup by name for each kind of subject."""


class BudgetSerializer(RowSerializer[Budget]):
    subject = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text=(
            "A username, the name of a team, the prefix of a key, or the slug of an "
            'application (including for run budgets); "" for a separate budget for each of them.'
        ),
    )
    spent = serializers.SerializerMethodField(
        help_text=(
            "The amount used in the current window. For separate budgets, the highest "
            "of their amounts. Null for a run budget."
        )
    )
    reserved = serializers.SerializerMethodField(
        help_text=("The amount reserved by running calls.")
    )
    renews_at = serializers.SerializerMethodField()

    class Meta:
        model = Budget
        fields = (
            "id",
            "subject_kind",
            "subject",
            "unit",
            "currency",
            "amount",
            "soft_amount",
            "window",
            "time_zone",
            "spent",
            "reserved",
            "renews_at",
            "version",
            "created_at",
            "updated_at",
        )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Look up the budget's user, team, key or application by its name in `subject`."""
        if isinstance(self.instance, Budget):
            self.refuse_changes(self.instance, attrs)
            attrs.pop("subject", None)
            return attrs
        name = attrs.pop("subject", "")
        field, model, key = SUBJECTS[attrs["subject_kind"]]
        if name:
            attrs[field] = model._default_manager.filter(**{key: name}).first()
            if attrs[field] is None:
                kind = model._meta.verbose_name
                raise serializers.ValidationError({"subject": f"Unknown {kind}: {name!r}."})
        self.refuse_others(attrs.get("application"), f"Unknown application: {name!r}.")
        return attrs

    def refuse_others(self, application: Application | None, unknown: str) -> None:
        request = self.context["request"]
        if may_rule(request, application):
            return
        is_hidden = (
            application is not None
            and not visible_applications(request).filter(pk=application.pk).exists()
        )
        raise serializers.ValidationError({"subject": unknown if is_hidden else NOT_YOURS})

    def refuse_changes(self, stored: Budget, attrs: Mapping[str, Any]) -> None:
        names = ("subject", *FIXED)
        changed = [n for n in names if n in attrs and attrs[n] != getattr(stored, n)]
        if changed:
            raise serializers.ValidationError(dict.fromkeys(changed, UNCHANGEABLE))

    def status_of(self, budget: Budget) -> BudgetStatus | None:
        listed: Mapping[int, list[BudgetStatus]] = self.context.get("statuses", {})
        found = listed.get(budget.pk)
        return next(iter(budget_statuses([budget])[budget.pk] if found is None else found), None)

    @extend_schema_field(serializers.DecimalField(19, 6, allow_null=True))
    def get_spent(self, budget: Budget) -> str | None:
        found = self.status_of(budget)
        return None if found is None else write_amount(found.decimal(found.spent))

    @extend_schema_field(serializers.DecimalField(19, 6, allow_null=True))
    def get_reserved(self, budget: Budget) -> str | None:
        found = self.status_of(budget)
        return None if found is None else write_amount(found.decimal(found.reserved))

    @extend_schema_field(OpenApiTypes.DATETIME)
    def get_renews_at(self, budget: Budget) -> datetime | None:
        return budget.renews_at


def write_amount(amount: Decimal) -> str:
    """Format the amount with six decimal places, the precision of budgets."""
    return f"{amount:.6f}"


class BudgetViewSet(RowViewSet[Budget]):
    queryset = Budget.objects.select_related("user", "team__group", "key", "application").order_by(
        "pk"
    )
    serializer_class = BudgetSerializer
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(of_seen(self.request, "application__slug"))

    def check_object_permissions(self, request: Request, obj: Budget) -> None:
        super().check_object_permissions(request, obj)
        if request.method not in SAFE_METHODS and not may_rule(request, obj.application):
            self.permission_denied(request, NOT_YOURS)

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        serializer: Any = super().get_serializer(*args, **kwargs)
        if kwargs.get("many"):  # Read for all rows at once, instead of one query per row.
            serializer.child.context["statuses"] = budget_statuses(args[0])
        return serializer
