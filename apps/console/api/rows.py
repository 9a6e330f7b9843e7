"""Serializers and views for rows with a version: the model's checks, the lock, the ETag.

An edit of an outdated version is refused: `If-Match` with the ETag of an answer gives 412, a
`version` in the body 409, both with the changes since. Without either, the last edit wins.
"""

import re
from copy import copy
from typing import Any, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.history.conflicts import as_json, since
from apps.catalog.history.kinds import kind_of
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.integers import is_integer
from apps.workspace.versions import Versioned

Row = TypeVar("Row", bound=Versioned)

PLAIN_TAG = re.compile(r'"\d{1,9}"', re.ASCII)

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag that was read; 412 when the row has changed since.",
)


class RowSerializer(serializers.ModelSerializer[Row]):
    """Saves after the model's own checks, so that scripts get the errors of the admin."""

    version = serializers.IntegerField(read_only=True)

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
        """Complete a valid row. Raises `RowInvalid`."""

    def problems(self, row: Row, error: ValidationError) -> Any:
        return problems_of_row(error)

    def create(self, validated_data: dict[str, Any]) -> Row:
        model: type[Row] = self.Meta.model
        return self.save_checked(model(), validated_data)

    def update(self, instance: Row, validated_data: dict[str, Any]) -> Row:
        return self.save_checked(copy(instance), validated_data)


WITH_ETAG = ("create", "retrieve", "update", "partial_update")
EDITS = ("update", "partial_update", "destroy")
WITH_IF_MATCH = extend_schema(parameters=[IF_MATCH])


@extend_schema_view(update=WITH_IF_MATCH, partial_update=WITH_IF_MATCH, destroy=WITH_IF_MATCH)
@method_decorator(transaction.atomic, name="create")
@method_decorator(transaction.atomic, name="update")
@method_decorator(transaction.atomic, name="destroy")
class RowViewSet(viewsets.ModelViewSet[Row]):
    """Edits lock the row, so that it cannot change between the check of the version and the save."""

    def get_queryset(self) -> QuerySet[Row]:
        rows = super().get_queryset()
        # Other actions have no transaction around them, and lock what they change themselves.
        return rows.select_for_update(of=("self",)) if self.action in EDITS else rows

    def perform_update(self, serializer: serializers.BaseSerializer[Row]) -> None:
        check_version(self.request, cast(Row, serializer.instance))
        super().perform_update(serializer)

    def perform_destroy(self, instance: Row) -> None:
        check_version(self.request, instance)
        super().perform_destroy(instance)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.action in WITH_ETAG and response.status_code < 300:
            answer["ETag"] = f'"{response.data["version"]}"'
        return answer


def check_version(request: Request, row: Versioned) -> None:
    """Raises `EditConflict`."""
    header = request.headers.get("If-Match", "")
    wanted = [tag.strip().removeprefix("W/") for tag in header.split(",") if tag.strip()]
    if wanted and "*" not in wanted and f'"{row.version}"' not in wanted:
        numbers = [int(tag.strip('"')) for tag in wanted if PLAIN_TAG.fullmatch(tag)]
        message = f"The row is at version {row.version}; read it again."
        raise EditConflict(412, message, changes_since(row, max(numbers, default=0)))
    body: Any = request.data
    edited = body.get("version") if isinstance(body, dict) else None
    if edited is not None and not (is_integer(edited) and edited == row.version):
        message = f"The row is at version {row.version}, you have changed version {edited!r}"
        raise EditConflict(409, f"{message}; read it again.", changes_since(row, edited))


def changes_since(row: Versioned, version: Any) -> dict[str, Any]:
    """The changes by others since a version, as JSON; none for a version that never was."""
    if not is_integer(version) or not 0 < version < row.version:
        return {"version": row.version, "changes": [], "differences": None}
    kind = kind_of(type(row))
    return {"version": row.version, **as_json(kind, row, since(kind, row.pk, version))}
