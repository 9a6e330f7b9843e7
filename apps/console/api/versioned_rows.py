"""Defines the base classes for serializers and views for rows whose ETag is their version.

The API rejects edits to outdated versions. It returns 412 for an outdated ETag in `If-Match`, and
409 for an outdated `version` in the body. Both responses list the changes since that version. If a
request has neither, it overwrites the row.
"""

import re
from collections.abc import Iterable
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

from apps.catalog.history.conflicts import conflict_json, later_changes
from apps.catalog.history.recorded_models import row_kind
from apps.console.api.datetime_fields import FIELD_MAPPING
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.console.api.strict_serializers import StrictModelSerializer
from apps.integers import is_integer
from apps.workspace.versions import VersionedRow

Row = TypeVar("Row", bound=VersionedRow)

PLAIN_TAG = re.compile(r'"\d{1,9}"', re.ASCII)

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description=(
        "The ETag of the row as fetched. If the row has changed since then, the response is 412."
    ),
)


class RowSerializer(StrictModelSerializer[Row]):
    # No docstring: the OpenAPI description would show it for every subclass. Saves after the
    # model's own checks, so that scripts get the same errors as in the admin.

    serializer_field_mapping = FIELD_MAPPING
    version = serializers.IntegerField(read_only=True)

    def save_checked(self, row: Row, values: dict[str, Any]) -> Row:
        """Save the row with these values. Raises `RowInvalid` if they are invalid."""
        for name, value in values.items():
            setattr(row, name, value)
        try:
            self.check(row)
        except ValidationError as error:
            raise RowInvalid(problems_of_row(error)) from error
        self.before_save(row, values)
        self.store(row)
        return row

    def check(self, row: Row) -> None:
        """Raise Django's `ValidationError` if the row is invalid."""
        row.full_clean()

    def before_save(self, row: Row, values: dict[str, Any]) -> None:
        """Set values that depend on the request. Can raise `RowInvalid`. Does nothing by
        default.
        """

    def store(self, row: Row) -> None:
        row.save()

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
    # No docstring: the OpenAPI description would show it for every subclass.
    # Edits lock the row, so that it cannot change between the check of the version and the save.

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


def check_version(request: Request, row: VersionedRow) -> None:
    """Raise `EditConflict` if the request is based on an outdated version of the row."""
    wanted = if_match_tags(request)
    if wanted and f'"{row.version}"' not in wanted:
        message = f"The row is at version {row.version}; fetch it again."
        raise EditConflict(412, message, changes_since(row, newest_version(wanted)))
    body: Any = request.data
    edited = body.get("version") if isinstance(body, dict) else None
    if edited is not None and not (is_integer(edited) and edited == row.version):
        message = f"The row is at version {row.version}; your edit is based on version {edited!r}"
        raise EditConflict(409, f"{message}; fetch it again.", changes_since(row, edited))


def if_match_tags(request: Request) -> list[str]:
    """Return the ETags in `If-Match`, or [] if any ETag is acceptable."""
    header = request.headers.get("If-Match", "")
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",") if tag.strip()]
    return [] if "*" in tags else tags


def newest_version(tags: Iterable[str]) -> int:
    """Return the highest version in the ETags, or -1 if none of them is an ETag of this API."""
    return max((int(tag.strip('"')) for tag in tags if PLAIN_TAG.fullmatch(tag)), default=-1)


def changes_since(row: VersionedRow, version: Any) -> dict[str, Any]:
    """Return the changes to the row since this version as JSON, or no changes if the version never
    existed.
    """
    if not is_integer(version) or not 0 < version < row.version:
        return {"version": row.version, "changes": [], "differences": None}
    kind = row_kind(type(row))
    return {
        "version": row.version,
        **conflict_json(kind, row, later_changes(kind, row.pk, version)),
    }
