"""What serializers and views of both kinds of rows share: the gate, the lock and the version."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from apps.console.api.problems import RowInvalid, problems_of_row
from apps.console.api.versions import check_version, with_etag
from apps.workspace.versions import Versioned

Row = TypeVar("Row", bound=Versioned)

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag that was read; 412 when the row has changed since.",
)


class RowSerializer(serializers.ModelSerializer[Row]):
    """Saves through the model's own checks, so that a script gets the errors of the admin."""

    def save_checked(self, row: Row, values: dict[str, Any]) -> Row:
        """Raises `RowInvalid`; `row` is then as it was."""
        for name, value in values.items():
            setattr(row, name, value)
        try:
            row.full_clean()
        except ValidationError as error:
            raise RowInvalid(self.problems(row, error)) from error
        self.before_save(row, values)
        row.save()
        return row

    def before_save(self, row: Row, values: dict[str, Any]) -> None:
        """What a valid row still needs. Raises `RowInvalid`."""

    def problems(self, row: Row, error: ValidationError) -> Any:
        return problems_of_row(error)

    def create(self, validated_data: dict[str, Any]) -> Row:
        model: type[Row] = self.Meta.model
        return self.save_checked(model(), validated_data)

    def update(self, instance: Row, validated_data: dict[str, Any]) -> Row:
        return self.save_checked(copy(instance), validated_data)


class RowViewSet(viewsets.ModelViewSet[Row]):
    """Writing locks the row, so that nobody changes it between the check and the save."""

    def get_queryset(self) -> QuerySet[Row]:
        rows = super().get_queryset()
        if self.request.method in {"PUT", "PATCH", "DELETE"}:
            return rows.select_for_update(of=("self",))
        return rows

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.get_object()
        return with_etag(Response(self.get_serializer(row).data), row)

    @transaction.atomic
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.tagged(super().create(request, *args, **kwargs))

    @extend_schema(parameters=[IF_MATCH])
    @transaction.atomic
    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.tagged(super().update(request, *args, **kwargs))

    @extend_schema(parameters=[IF_MATCH])
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().partial_update(request, *args, **kwargs)

    @extend_schema(parameters=[IF_MATCH])
    @transaction.atomic
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().destroy(request, *args, **kwargs)

    def perform_update(self, serializer: serializers.BaseSerializer[Row]) -> None:
        check_version(self.request, cast(Row, serializer.instance))
        super().perform_update(serializer)

    def perform_destroy(self, instance: Row) -> None:
        check_version(self.request, instance)
        super().perform_destroy(instance)

    def tagged(self, response: Response) -> Response:
        response["ETag"] = f'"{response.data["version"]}"'
        return response
