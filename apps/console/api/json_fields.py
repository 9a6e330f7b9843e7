"""Uses the schemas of Pydantic models to describe JSON columns in the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from pydantic import TypeAdapter
from rest_framework import serializers

from apps.cases.case_messages import MOST_TURNS, CaseTurn
from apps.cases.expectations import MOST_EXPECTATIONS, Expectation

REFERENCE = "#/components/schemas/{model}"


def list_of(name: str, most: int, least: int = 0) -> dict[str, Any]:
    items = {"$ref": REFERENCE.format(model=name)}
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


@extend_schema_field({"type": "object", "additionalProperties": {}})
class DocumentField(serializers.JSONField): ...


@extend_schema_field(list_of("CaseTurn", MOST_TURNS, least=1))
class CaseMessagesField(serializers.JSONField): ...


@extend_schema_field(list_of("CaseExpectation", MOST_EXPECTATIONS))
class CaseExpectationsField(serializers.JSONField): ...


def add_components(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """Add the schemas to which the fields in this module refer. drf-spectacular calls this hook."""
    found: dict[str, Any] = {}
    kinds: dict[str, Any] = {"CaseTurn": CaseTurn, "CaseExpectation": Expectation}
    for name, kind in kinds.items():
        schema = TypeAdapter[Any](kind).json_schema(ref_template=REFERENCE)
        found |= schema.pop("$defs", {})
        found[name] = schema
    components = result["components"]["schemas"]
    components |= {name: in_openapi(schema) for name, schema in found.items()}
    result["components"]["schemas"] = dict(sorted(components.items()))
    return result


def in_openapi(schema: Any) -> Any:
    """Convert a JSON schema from Pydantic to the OpenAPI 3.0 dialect."""
    if isinstance(schema, list):
        return [in_openapi(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # The title of a schema is a string. A property named "title" is a schema.
    made = {
        key: in_openapi(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    if kinds := [name for name, one in schema.get("properties", {}).items() if "const" in one]:
        # The field has a default only in code.
        made["required"] = [*kinds, *made.get("required", ())]
    if "const" in made:
        made["enum"] = [made.pop("const")]
    if isinstance(least := made.get("exclusiveMinimum"), int | float) and least is not True:
        made |= {"minimum": least, "exclusiveMinimum": True}
    match made.get("anyOf"):
        case [dict() as one, {"type": "null"}]:
            del made["anyOf"]
            return {**one, **{k: v for k, v in made.items() if v is not None}, "nullable": True}
        case _:
            return made
