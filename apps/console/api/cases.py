"""Serves the API for test cases and their runs."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Count, Q
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from apps.cases.background import begin_later
from apps.cases.latest_results import latest_statuses
from apps.cases.models import Case, CaseResult, CaseRun
from apps.cases.runner import MOST_TIMES, CaseRunRequest, problem_text, stop
from apps.console.api.application_field import ApplicationField
from apps.console.api.json_fields import CaseExpectationsField, CaseMessagesField
from apps.console.api.strict_serializers import StrictModelSerializer, StrictSerializer
from apps.console.api.versioned_rows import RowSerializer, RowViewSet
from apps.console.operator_rights import may_rule, of_seen
from apps.errors import QuickAppError

OF_APPLICATION = OpenApiParameter(
    "application", OpenApiTypes.STR, description="Filter by the slug of the application."
)
LIST = extend_schema(parameters=[OF_APPLICATION])


class CaseSerializer(RowSerializer[Case]):
    application = ApplicationField()
    messages = CaseMessagesField(help_text="The conversation, ending with the user's question.")
    expectations = CaseExpectationsField(
        required=False, help_text=("Conditions that the answer must meet. Each has a `kind`.")
    )
    has_passed = serializers.SerializerMethodField(
        help_text=(
            "True if all attempts of the latest run passed; null if the test case has never run."
        )
    )

    class Meta:
        model = Case
        fields = (
            *("id", "name", "application", "messages", "expectations", "is_from_real_run"),
            *("source_run", "has_passed", "version", "created_at", "updated_at"),
        )
        read_only_fields = ("is_from_real_run", "source_run")

    def get_has_passed(self, row: Case) -> bool | None:
        found = latest_statuses([row.pk]).get(row.pk)
        return None if found is None else found.has_passed

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        stored: Any = self.instance
        if (
            stored is not None
            and attrs.get("application", stored.application) != stored.application
        ):
            raise serializers.ValidationError({"application": "This field cannot be changed."})
        return attrs


@LIST
class CaseViewSet(RowViewSet[Case]):
    queryset = Case.objects.select_related("application").order_by("pk")
    serializer_class = CaseSerializer
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> Any:
        return filter_rows(self.request, super().get_queryset())

    def check_object_permissions(self, request: Request, obj: Any) -> None:
        super().check_object_permissions(request, obj)
        if request.method not in SAFE_METHODS and not may_rule(request, obj.application):
            self.permission_denied(request, ApplicationField.refusal)


class CaseFailureSerializer(StrictSerializer[Any]):
    kind = serializers.CharField(help_text="The kind of expectation.")
    text = serializers.CharField(help_text="The difference from the expectation.")
    expected = serializers.CharField()
    actual = serializers.CharField()


class CaseCallSerializer(StrictSerializer[Any]):
    name = serializers.CharField()
    arguments = serializers.DictField()
    refused = serializers.BooleanField(
        help_text=("True if the tool was not called because it has side effects.")
    )


@extend_schema_field(CaseFailureSerializer(many=True))
class CaseFailuresField(serializers.JSONField): ...


@extend_schema_field(CaseCallSerializer(many=True))
class CaseCallsField(serializers.JSONField): ...


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
class CostsField(serializers.JSONField): ...


class CaseResultSerializer(StrictModelSerializer[CaseResult]):
    failures = CaseFailuresField()
    tools = CaseCallsField(help_text="The tool calls, in order.")
    costs = CostsField(help_text="The cost in each currency.")

    class Meta:
        model = CaseResult
        fields = (
            *("case", "name", "attempt", "passed", "failures", "text", "error", "tools"),
            *("seconds", "tokens", "costs"),
        )


class CaseRunSerializer(StrictModelSerializer[CaseRun]):
    application = ApplicationField()
    mode = serializers.ChoiceField(choices=CaseRun.Mode.choices, default="replay")
    times = serializers.IntegerField(min_value=1, max_value=MOST_TIMES, default=1)
    cases = serializers.ListField(
        child=serializers.IntegerField(),
        write_only=True,
        required=False,
        help_text="The IDs of the test cases. The default is all test cases of the application.",
    )
    passed = serializers.IntegerField(
        read_only=True, help_text="The number of attempts that passed."
    )
    done = serializers.IntegerField(
        source="made", read_only=True, help_text="The number of finished attempts."
    )
    started_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = CaseRun
        fields: tuple[str, ...] = (
            *("id", "application", "target", "mode", "times", "is_recording", "is_approved"),
            *("cases", "state", "problem", "passed", "done", "total", "started_by"),
            *("started_at", "finished_at"),
        )
        read_only_fields = ("state", "problem", "total", "started_at", "finished_at")

    def create(self, validated_data: dict[str, Any]) -> CaseRun:
        """Start the run. Raises `ValidationError` if it cannot start."""
        application = validated_data.pop("application")
        user = cast(User, self.context["request"].user)
        request = CaseRunRequest(**validated_data)
        try:
            return begin_later(application, user, request)
        except QuickAppError as error:
            raise serializers.ValidationError({"application": problem_text(error)}) from error


class CaseRunWithResults(CaseRunSerializer):
    results = CaseResultSerializer(many=True, read_only=True)

    class Meta(CaseRunSerializer.Meta):
        fields = (*CaseRunSerializer.Meta.fields, "results")


@extend_schema(parameters=[OF_APPLICATION])
class CaseRunViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[CaseRun],
):
    """Runs of test cases. POST starts a run. A GET request for one run also returns the results so
    far.
    """

    queryset = CaseRun.objects.select_related("application", "started_by").order_by("-pk")
    serializer_class = CaseRunSerializer
    lookup_value_regex = "[0-9]{1,18}"

    def get_serializer_class(self) -> Any:
        return CaseRunWithResults if self.action == "retrieve" else CaseRunSerializer

    def get_queryset(self) -> Any:
        passed = Count("results", filter=Q(results__passed=True))
        rows = super().get_queryset().annotate(made=Count("results"), passed=passed)
        return filter_rows(self.request, rows)

    @extend_schema(request=None, responses=CaseRunSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop the run and its current attempts."""
        run = self.get_object()
        if not may_rule(request, run.application):
            self.permission_denied(request, ApplicationField.refusal)
        stop(run)
        return Response(self.get_serializer(self.get_object()).data)


def filter_rows(request: Request, rows: Any) -> Any:
    """Return the rows of the applications that the caller can see, restricted to the query
    parameter `application` if it is set.
    """
    found = rows.filter(of_seen(request, "application__slug"))
    slug = request.query_params.get("application")
    return found if slug is None else found.filter(application__slug=slug)
