"""Defines an encrypted JSON column. Versions use it because old manifests may contain credentials."""

import json
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from apps.workspace.local.secrets.field import SecretField, UnreadableSecret


class SealedDocumentField(SecretField):
    """An encrypted JSON column. Values that no key can decrypt are loaded as `UnreadableSecret`."""

    def get_prep_value(self, value: Any) -> str | None:
        if isinstance(value, UnreadableSecret) or value is None:
            return super().get_prep_value(value)
        return super().get_prep_value(json.dumps(value, ensure_ascii=False))

    def from_db_value(
        self, value: str | None, expression: object, connection: BaseDatabaseWrapper
    ) -> Any:
        text = super().from_db_value(value, expression, connection)
        return json.loads(text) if text else text

    def to_python(self, value: Any) -> Any:
        return value
