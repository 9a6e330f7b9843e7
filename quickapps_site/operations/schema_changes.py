"""Detects changes to models that need a migration. Changed texts and choices need none, because
they are not in the database.
"""

from typing import Any

from django.db import models
from django.db.migrations.autodetector import MigrationAutodetector

NOT_IN_DATABASE = frozenset(
    ("choices", "error_messages", "help_text", "validators", "verbose_name")
)


class SchemaAutodetector(MigrationAutodetector):
    """Detects changes to models, but ignores field attributes that only forms and pages use."""

    def deep_deconstruct(self, obj: Any) -> Any:
        deconstructed = super().deep_deconstruct(obj)
        if not isinstance(obj, models.Field):
            return deconstructed
        path, arguments, options = deconstructed
        return (
            path,
            arguments,
            {name: value for name, value in options.items() if name not in NOT_IN_DATABASE},
        )
