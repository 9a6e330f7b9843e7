"""Defines the serializer field for times in a bounded range of years."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from apps.datetime_fields import BoundedDateTimeField, check_bounds


class BoundedDateTime(serializers.DateTimeField):
    """Checks the bounds before converting the time zone. The conversion fails near both ends of the
    calendar.
    """

    def enforce_timezone(self, value: datetime) -> datetime:
        if timezone.is_aware(value):
            check_bounds(value)
        return super().enforce_timezone(value)


FIELD_MAPPING: dict[Any, Any] = {
    **serializers.ModelSerializer.serializer_field_mapping,
    BoundedDateTimeField: BoundedDateTime,
}
"""The `serializer_field_mapping` for models with bounded times."""
