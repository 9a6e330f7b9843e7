"""Defines a serializer field for times within the bounds of their columns."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from apps.datetime_fields import BoundedDateTimeField, check_bounds


class BoundedDateTime(serializers.DateTimeField):
    """Checks the bounds of a time before its time zone is converted, because the conversion fails
    near both ends of the calendar.
    """

    def enforce_timezone(self, value: datetime) -> datetime:
        if timezone.is_aware(value):
            check_bounds(value)
        return super().enforce_timezone(value)


FIELD_MAPPING: dict[Any, Any] = {
    **serializers.ModelSerializer.serializer_field_mapping,
    BoundedDateTimeField: BoundedDateTime,
}
"""Serializers of models with bounded times use this `serializer_field_mapping`."""
