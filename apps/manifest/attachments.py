"""Which attachments of a tool survive, and how a REST response becomes one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from apps.manifest.nodes import Node, unpublished

Types = tuple[str, ...]

ANY_TYPE: Types = ("*/*",)
SHOWN_TYPES: Types = ("image/*", "application/vnd.plotly.v1+json")

_STRINGS = {"items": {"type": "string"}, "type": "array"}


def _null_as(default: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: default if value is None else value)


class AttachmentFilter(Node):
    """Null for any of the three means its default."""

    supported_types: Annotated[
        Types, _null_as(ANY_TYPE), WithJsonSchema({"anyOf": [_STRINGS, {"type": "null"}]})
    ] = Field(
        default_factory=unpublished(ANY_TYPE),
        description="MIME types that are kept; an empty list drops all.",
    )
    propagate_types_to_choice: Annotated[Types, _null_as(SHOWN_TYPES)] = Field(
        default_factory=unpublished(SHOWN_TYPES),
        description="MIME types that are shown on the answer, of those that are kept.",
    )
    media_type_substitution: Annotated[dict[str, str], _null_as({})] = Field(
        default_factory=dict, description="MIME type → the MIME type it is given."
    )


class ResponseAsAttachment(Node):
    enabled: bool = False
    content_types: Types = Field(default_factory=unpublished(ANY_TYPE))
    include_body_as_content: bool = Field(
        default=True, description="Give the model the body too, not only a placeholder."
    )
