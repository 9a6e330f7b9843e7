"""Serves the API for runs: their results and, with a permission, their contents."""

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.admin.models import CHANGE, LogEntry
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from apps.console.admin.watch.run_contents import may_read, record_reading
from apps.console.admin.watch.run_list import with_figures
from apps.console.admin.watch.runs import STOP, find_active_run
from apps.console.admin.watch.waterfall import waterfall_of
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.strict_serializers import StrictModelSerializer, StrictSerializer
from apps.console.list_filters import FilterInvalid
from apps.console.operator_rights import of_seen
from apps.console.run_search import SOURCES, STATES, ActiveFirstRuns, RunSearch, summary_of
from apps.live.history.request_view import RequestView, view_of
from apps.live.history.sent_requests import requests_of
from apps.live.hub import HUB
from apps.live.leases import stop_run
from apps.live.run_summary import RunSummary

CANNOT_STOP = "The run has ended, or is a gateway run, which ends with its client."
SEARCH = [
    OpenApiParameter(
        "q",
        OpenApiTypes.STR,
        description=(
            "Search by the error reference that a user was shown, the ID of a run, the "
            "slug of an application, a caller or a username."
        ),
    ),
    OpenApiParameter(
        "application", OpenApiTypes.STR, description="Filter by the slug of the application."
    ),
    OpenApiParameter(
        "version", OpenApiTypes.INT, description="Filter by the version. Requires `application`."
    ),
    OpenApiParameter(
        "user", OpenApiTypes.STR, description="Filter by a username, or by the `caller` of a run."
    ),
    OpenApiParameter("status", OpenApiTypes.STR, enum=[*STATES]),
    OpenApiParameter(
        "door",
        OpenApiTypes.STR,
        enum=[*SOURCES],
        description="Filter by the source. `users` leaves out test messages in the studio.",
    ),
    OpenApiParameter(
        "tool", OpenApiTypes.STR, description="Filter by the name of a tool that was called."
    ),
    OpenApiParameter(
        "error",
        OpenApiTypes.STR,
        description="Filter by the error of a call, such as `status 429`.",
    ),
    OpenApiParameter(
        "hours",
        OpenApiTypes.INT,
        description="Return only runs that started within this number of hours.",
    ),
    OpenApiParameter("since", OpenApiTypes.DATETIME),
    OpenApiParameter("until", OpenApiTypes.DATETIME),
]


class CannotBeStopped(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = CANNOT_STOP


class ListedRunSerializer(StrictModelSerializer[RunSummary]):
    person = serializers.CharField(
        source="person_name", read_only=True, help_text="The name of the caller, if any."
    )
    status = serializers.CharField(read_only=True)
    costs = serializers.SerializerMethodField(help_text="The cost in each currency.")

    class Meta:
        model = RunSummary
        fields: tuple[str, ...] = (
            *("id", "application", "door", "bucket", "person", "status", "started_at", "seconds"),
            *("model_calls", "tool_calls", "prompt_tokens", "completion_tokens", "costs"),
            "error_reference",
        )
        read_only_fields = fields

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
    def get_costs(self, run: Any) -> Mapping[str, str]:
        costs: Mapping[str, Decimal] = run.costs
        return {currency: f"{cost:f}" for currency, cost in costs.items()}


class SpanSerializer(StrictSerializer[Any]):
    """A model call, a tool call, a nested run, or a wait for a user."""

    kind = serializers.CharField(help_text="`model`, `tool`, `run` or `wait`.")
    name = serializers.CharField(source="identifier")
    began = serializers.DateTimeField()
    seconds = serializers.FloatField(allow_null=True)
    detail = serializers.CharField()
    has_failed = serializers.BooleanField()
    is_inside = serializers.BooleanField(help_text="True if the call belongs to a nested run.")


class RunSerializer(ListedRunSerializer):
    spans = serializers.SerializerMethodField()

    class Meta(ListedRunSerializer.Meta):
        fields = (*ListedRunSerializer.Meta.fields, "spans")
        read_only_fields = fields

    @extend_schema_field(SpanSerializer(many=True))
    def get_spans(self, run: RunSummary) -> Any:
        spans = [row.span for row in waterfall_of(run).rows]
        return SpanSerializer(spans, many=True).data


class PieceSerializer(StrictSerializer[Any]):
    layer = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # the name of an attribute of fields, too
    text = serializers.CharField()
    tokens = serializers.IntegerField(help_text="The estimated number of tokens in the whole text.")
    is_cut = serializers.BooleanField(help_text="True if only the beginning of the text is stored.")


class ModelRequestSerializer(StrictSerializer[RequestView]):
    """A model request. Its text contains the size of the user's memories, not their content."""

    application = serializers.CharField()
    model = serializers.CharField()
    at = serializers.DateTimeField()
    prompt = PieceSerializer(many=True)
    messages = PieceSerializer(many=True)
    tools = PieceSerializer(many=True)
    parameters = serializers.CharField(help_text="The parameters of the request, as JSON.")


class RunPermission(StaffWithPermission):
    """Allows only users with the permission to change runs to stop a run."""

    perms_map = {**StaffWithPermission.perms_map, "POST": [STOP]}


class RunViewSet(GenericViewSet[RunSummary]):
    queryset = RunSummary.objects.order_by("-started_at", "pk")
    serializer_class = RunSerializer
    permission_classes = (RunPermission,)
    lookup_value_regex = "[0-9a-f-]{32,36}"

    @extend_schema(responses=ListedRunSerializer(many=True), parameters=SEARCH)
    def list(self, request: Request) -> Response:
        """Return up to 10,000 runs. Active runs come before finished runs, and newer runs before
        older runs.
        """
        try:
            search = RunSearch.of(request.query_params)
        except FilterInvalid as error:
            raise ValidationError({error.name: str(error)}) from error
        finished = search.summaries(request).order_by("-started_at", "pk")
        page = self.paginate_queryset(ActiveFirstRuns(search.active_runs(request), finished))
        return self.get_paginated_response(
            ListedRunSerializer(with_figures(page or []), many=True).data
        )

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(RunSerializer(with_figures([self.run(pk)])[0]).data)

    @extend_schema(request=None, responses={202: None})
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop an active or waiting run. It stops within a second."""
        self.run(pk)
        run = find_active_run(request, pk)
        if run is None or not async_to_sync(stop_run)(HUB, run):
            raise CannotBeStopped
        LogEntry.objects.log_actions(
            request.user.pk or 0, [run], CHANGE, "Stopped.", single_object=True
        )
        return Response(status=status.HTTP_202_ACCEPTED)

    @extend_schema(responses=ModelRequestSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def requests(self, request: Request, pk: str) -> Response:
        """Return the model requests of a run. Requires the permission to read the contents of runs.
        The audit log records the access.
        """
        run = self.run(pk)
        record_reading(request, run, "model requests", is_allowed=may_read(request))
        if not may_read(request):
            self.permission_denied(request, "You need the permission to read the contents of runs.")
        found = requests_of(run.pk)
        return Response(
            [asdict(view_of(row, parts, withholds_private=True)) for row, parts in found]
        )

    def run(self, number: str) -> RunSummary:
        """Return the active or finished run with this ID. Raises `Http404` if it does not exist or
        the caller may not see it.
        """
        try:
            wanted = UUID(number)
        except ValueError as error:
            raise Http404 from error
        found = self.get_queryset().filter(of_seen(self.request), pk=wanted).first()
        if found is not None:
            return found
        may_see = self.request.user.has_perm("runs.view_run")
        going = find_active_run(self.request, number) if may_see else None
        if going is None:
            raise Http404
        return summary_of(going)
