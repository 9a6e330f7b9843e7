"""Defines a model field for secrets, encrypted with `SECRET_KEY` and `SALT_KEY`. It can also
decrypt values with old keys.

Unlike the library's field, it does not store "" as NULL, decrypt form input, or return the
encrypted text as the secret when no key matches.
"""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from cryptography.fernet import InvalidToken, MultiFernet
from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from encrypted_fields.fields import EncryptedTextField

logger = logging.getLogger(__name__)


class UnreadableSecret(str):
    """An empty string in place of a secret that no key can decrypt. When the row is saved, the
    stored value remains unchanged.
    """

    __slots__ = ("encrypted",)

    encrypted: str

    @classmethod
    def of(cls, encrypted: str) -> Self:
        secret = cls()
        secret.encrypted = encrypted
        return secret


if TYPE_CHECKING:  # The library has no type annotations.

    class Encrypted(models.TextField[str, str]):
        f: MultiFernet

else:
    Encrypted = EncryptedTextField


class SecretField(Encrypted):
    def get_prep_value(self, value: Any) -> str | None:
        if isinstance(value, UnreadableSecret):
            return value.encrypted
        if value is None or value == "":
            return "" if not self.null else None
        return self.encrypted(str(value))

    def from_db_value(
        self, value: str | None, expression: object, connection: BaseDatabaseWrapper
    ) -> str | None:
        if not value:
            return value
        try:
            return str(self.f.decrypt(value.encode()).decode())
        except InvalidToken:
            logger.error(
                "A stored %s cannot be decrypted with any SECRET_KEY or SALT_KEY.", self.name
            )
            return UnreadableSecret.of(value)

    def to_python(self, value: Any) -> Any:
        return models.TextField.to_python(self, value)

    def clean(self, value: Any, model_instance: models.Model | None) -> Any:
        return models.TextField.clean(self, value, model_instance)

    def encrypted(self, value: str) -> str:
        return str(self.f.encrypt(value.encode()).decode())


def secret_columns() -> Iterator[tuple[type[models.Model], str]]:
    """Yield the model and the name of each secret field."""
    for model in apps.get_models():
        for field in model._meta.fields:
            if isinstance(field, SecretField):
                yield model, field.name
