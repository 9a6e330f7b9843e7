"""Defines a credential in a manifest: the credential itself, or the name of a secret that is stored
elsewhere.

`repr`, dumps and errors show neither. The secret's value is read when a request is built.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

SECRET = "$secret"  # noqa: S105 - a key of documents
"""The key of a reference to a secret: `{"$secret": "name"}`."""
HIDDEN = "$hidden"
"""The key of a mask for a stored credential: `{"$hidden": "…"}`; see
`apps.catalog.credentials.masking`.
"""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")

FOREIGN = "foreign"
"""A key of the validation context for documents that do not belong to this installation."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential: either `text` itself, or the name of a stored `secret`."""

    text: str = field(default="", repr=False)
    secret: str = ""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            read_credential,
            serialization=core_schema.plain_serializer_function_ser_schema(dump_credential),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string"}


def read_credential(value: Any, info: ValidationInfo) -> Credential:
    """Validate a credential. Raises `PydanticCustomError` with a message that does not contain the
    value.
    """
    if isinstance(value, Credential):
        return value
    if isinstance(value, str):
        return Credential(value)
    if isinstance(value, dict) and HIDDEN in value:
        raise PydanticCustomError(
            "credential_hidden",
            "is a placeholder for a hidden credential, but none is stored here; enter it "
            "again, or refer to a secret",
        )
    if not isinstance(value, dict) or SECRET not in value:
        raise PydanticCustomError("credential_type", "expected a string or a reference to a secret")
    return _reference(value, is_foreign=bool((info.context or {}).get(FOREIGN)))


def _reference(value: dict[str, Any], *, is_foreign: bool) -> Credential:
    name = value[SECRET]
    if len(value) > 1 or not isinstance(name, str) or not NAME.fullmatch(name):
        raise PydanticCustomError(
            "secret_reference",
            'does not refer to a secret; use {example} with a name of letters, digits, "-" and "_"',
            {"example": '{"$secret": "name"}'},
        )
    if is_foreign:
        raise PydanticCustomError("secret_foreign", FOREIGN_REFERENCE)
    return Credential(secret=name)


FOREIGN_REFERENCE = (
    "refers to a secret of this installation, which only its own applications may use; "
    "enter the credential itself"
)


def dump_credential(credential: Credential) -> dict[str, str] | str:
    """Return a credential for a dump: a reference to its secret, an empty mask, or "" if the
    credential is empty.
    """
    if credential.secret:
        return {SECRET: credential.secret}
    return {HIDDEN: ""} if credential.text else ""


def is_reference(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(SECRET), str)


def is_hidden(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(HIDDEN), str)


def reads_as_credential(name: str) -> bool:
    """Return True if a header or query parameter with this name usually contains a credential."""
    return bool(_CREDENTIAL_NAME.search(name))


_CREDENTIAL_NAME = re.compile(
    r"^(x-.+-)?key$|(api|access|auth|secret|private|subscription)[-_]?key$"
    r"|(token|secret|password|passwd|authorization|cookie)$",
    re.IGNORECASE,
)
