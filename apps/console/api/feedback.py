"""Serves the API for users' feedback. Clients can read it, and change only its state and note."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema,
    extend_schema_serializer,
    extend_schema_view,
)
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from apps.console.admin.evaluate.feedback_transcripts import shared_feedback
from apps.console.api.strict_serializers import StrictModelSerializer, StrictSerializer
from apps.console.list_filters import FilterInvalid, integer_filter, text_filter, time_filter
from apps.console.operator_rights import may_rule, of_seen
from apps.feedback.models import Feedback

NOT_YOURS = "Only editors of the application can change it."
EXACT = {
    "application": "application__slug",
    "rating": "rating",
    "reason": "reason",
    "state": "state",
}
VERSION = "application_version"
SEARCH = [
    OpenApiParameter(
        "application", OpenApiTypes.STR, description="Filter by the slug of the application."
    ),
    OpenApiParameter("version", OpenApiTypes.INT),
    OpenApiParameter("rating", OpenApiTypes.STR, enum=Feedback.Rating.values),
    OpenApiParameter("reason", OpenApiTypes.STR, enum=Feedback.Reason.values),
    OpenApiParameter("state", OpenApiTypes.STR, enum=Feedback.State.values),
    OpenApiParameter("since", OpenApiTypes.DATETIME),
    OpenApiParameter("until", OpenApiTypes.DATETIME),
]


# The section of the reference is called "feedback".
@extend_schema_serializer(component_name="GivenFeedback")
class FeedbackSerializer(StrictModelSerializer[Feedback]):
    application = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = Feedback
        fields = (
            *("id", "application", "application_version", "run", "rating", "reason", "comment"),
            *("shares_transcript", "state", "note", "created_at", "updated_at"),
        )
        read_only_fields = tuple(name for name in fields if name not in ("state", "note"))


class SaidSerializer(StrictSerializer[Any]):
    text = serializers.CharField()
    files = serializers.ListField(
        child=serializers.CharField(), help_text="The names of the attached files."
    )
    at = serializers.DateTimeField()


class TranscriptSerializer(StrictSerializer[Any]):
    question = SaidSerializer()
    answer = SaidSerializer()


@extend_schema_view(list=extend_schema(parameters=SEARCH))
class FeedbackViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    GenericViewSet[Feedback],
):
    queryset = Feedback.objects.select_related("application").order_by("-created_at", "-pk")
    serializer_class = FeedbackSerializer
    http_method_names = ["get", "head", "options", "patch"]
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[Feedback]:
        return super().get_queryset().filter(of_seen(self.request, "application__slug"))

    def filter_queryset(self, queryset: Any) -> Any:
        """Apply the filters in the URL. Raises `ValidationError` for an invalid version or time."""
        asked = self.request.query_params
        wanted: dict[str, Any] = {EXACT[name]: text_filter(asked, name) for name in EXACT}
        try:
            wanted[VERSION] = integer_filter(asked, "version")
            since, until = (time_filter(asked, name) for name in ("since", "until"))
        except FilterInvalid as error:
            raise ValidationError({error.name: str(error)}) from error
        rows = queryset.filter(
            **{name: one for name, one in wanted.items() if one not in ("", None)}
        )
        rows = rows if since is None else rows.filter(created_at__gte=since)
        return rows if until is None else rows.filter(created_at__lt=until)

    def perform_update(self, serializer: Any) -> None:
        if not may_rule(self.request, serializer.instance.application):
            self.permission_denied(self.request, NOT_YOURS)
        serializer.save()

    @extend_schema(responses=TranscriptSerializer)
    @action(detail=True)
    def transcript(self, request: Request, pk: str) -> Response:
        """Return the question and the answer, if the user attached them. The audit log records the
        access.
        """
        return Response(shared_feedback(request, pk).transcript)
