"""Defines serializers that reject unknown fields, so that misspelled fields cause an error."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model
from rest_framework import serializers

T = TypeVar("T")
M = TypeVar("M", bound=Model)

MOST_REPORTED = 20
LONGEST_NAME = 100


class StrictFields(serializers.BaseSerializer[Any]):
    # No docstring: the OpenAPI description would show it for every subclass.
    # Read-only fields are ignored, so that clients can send back what they fetched.

    def to_internal_value(self, data: Any) -> Any:
        fields: Any = getattr(self, "fields", {})
        unknown = [name for name in data if name not in fields] if isinstance(data, Mapping) else []
        problems: dict[str, Any] = {
            name[:LONGEST_NAME]: [f"Unknown field: {name[:LONGEST_NAME]!r}."]
            for name in unknown[:MOST_REPORTED]
        }
        try:
            found = super().to_internal_value(data)
        except serializers.ValidationError as error:
            if isinstance(error.detail, dict):
                raise serializers.ValidationError({**error.detail, **problems}) from error
            raise
        if problems:
            raise serializers.ValidationError(problems)
        return found


class StrictSerializer(StrictFields, serializers.Serializer[T]): ...


class StrictModelSerializer(StrictFields, serializers.ModelSerializer[M]): ...
