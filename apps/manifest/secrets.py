"""A credential as a manifest holds it: typed in, or the name of a secret that is kept elsewhere.

Neither is written out by `repr`, a dump or an error; what it says is asked for by name, where the
request is built.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

SECRET = "$secret"  # noqa: S105 - a key of documents
"""`{"$secret": "name"}` stands for the secret of that name."""
HIDDEN = "$hidden"
"""`{"$hidden": "…"}` stands for a credential that is not shown; see `apps.catalog.masking`."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")

FOREIGN = "foreign"
"""In the context of a validation: the document is not this installation's own."""


@dataclass(frozen=True, slots=True)
class Credential:
    """One of the two is set: the text itself, or the name of the secret that has it."""

    text: str = field(default="", repr=False)
    secret: str = ""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            read_credential, serialization=core_schema.plain_serializer_function_ser_schema(dumped)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string"}


def read_credential(value: Any, info: ValidationInfo) -> Credential:
    """Raises `PydanticCustomError`, which does not repeat the value."""
    if isinstance(value, Credential):
        return value
    if isinstance(value, str):
        return Credential(value)
    if isinstance(value, dict) and HIDDEN in value:
        raise PydanticCustomError(
            "credential_hidden",
            "is a credential that is not shown, and none is stored here that it could stand for; "
            "type it again, or name a secret",
        )
    if not isinstance(value, dict) or SECRET not in value:
        raise PydanticCustomError("credential_type", "expected a string or a secret")
    return _reference(value, is_foreign=bool((info.context or {}).get(FOREIGN)))


def _reference(value: dict[str, Any], *, is_foreign: bool) -> Credential:
    name = value[SECRET]
    if len(value) > 1 or not isinstance(name, str) or not NAME.fullmatch(name):
        raise PydanticCustomError(
            "secret_reference",
            'does not name a secret; write {example} with a name of letters, digits, "-" and "_"',
            {"example": '{"$secret": "name"}'},
        )
    if is_foreign:
        raise PydanticCustomError("secret_foreign", FOREIGN_REFERENCE)
    return Credential(secret=name)


FOREIGN_REFERENCE = (
    "names a secret of this installation, and only applications that are kept here may; "
    "type the credential"
)


def dumped(credential: Credential) -> dict[str, str] | str:
    """What a dump shows in its place: not enough to read it back."""
    if credential.secret:
        return {SECRET: credential.secret}
    return {HIDDEN: ""} if credential.text else ""


def is_reference(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(SECRET), str)


def is_hidden(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(HIDDEN), str)


def reads_as_credential(name: str) -> bool:
    """Whether a constant of that name is one: of a header, or of a query."""
    return bool(_CREDENTIAL_NAME.search(name))


_CREDENTIAL_NAME = re.compile(
    r"^(x-.+-)?key$|(api|access|auth|secret|private|subscription)[-_]?key$"
    r"|(token|secret|password|passwd|authorization|cookie)$",
    re.IGNORECASE,
)
