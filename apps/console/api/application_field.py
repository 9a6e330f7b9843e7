"""Defines the serializer field for a row's application."""

from typing import Any

from rest_framework import serializers

from apps.catalog.models import Application
from apps.console.operator_rights import may_rule


class ApplicationField(serializers.SlugRelatedField[Application]):
    """The slug of an application that the caller can edit. The error message for any other slug
    does not reveal whether the application exists.
    """

    refusal = "Choose an application that you can edit."
    default_error_messages = {"does_not_exist": refusal}

    def __init__(self, **options: Any) -> None:
        super().__init__(slug_field="slug", queryset=Application.objects.all(), **options)

    def to_internal_value(self, data: Any) -> Application:
        found: Application = super().to_internal_value(data)
        if not may_rule(self.context["request"], found):
            self.fail("does_not_exist")
        return found
