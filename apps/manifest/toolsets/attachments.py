"""Defines which attachments from a tool are stored, and which REST responses become attachments."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from apps.manifest.nodes import Node, unpublished_default

Types = tuple[str, ...]

ANY_TYPE: Types = ("*/*",)
SHOWN_TYPES: Types = ("image/*", "application/vnd.plotly.v1+json")

_STRINGS = {"items": {"type": "string"}, "type": "array"}


def _null_as(default: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: default if value is None else value)


class AttachmentFilter(Node):
    """Selects which files in a tool's results are stored, and which of them the answer shows. If
    `supported_types`, `propagate_types_to_choice` or `media_type_substitution` is null, its default
    applies.
    """

    supported_types: Annotated[
        Types, _null_as(ANY_TYPE), WithJsonSchema({"anyOf": [_STRINGS, {"type": "null"}]})
    ] = Field(default_factory=unpublished_default(ANY_TYPE))
    """MIME types of the attachments to store, such as `["image/*", "text/csv"]`. Omitted: all
    types. `[]`: none.
    """
    propagate_types_to_choice: Annotated[Types, _null_as(SHOWN_TYPES)] = Field(
        default_factory=unpublished_default(SHOWN_TYPES)
    )
    """MIME types of stored attachments that the answer also shows. Other attachments appear only in
    the call's stage. Omitted: `["image/*", "application/vnd.plotly.v1+json"]`. `[]`: none.
    """
    propagate_types_to_text: Types = ()
    """MIME types of stored images that appear in the text of the answer, at the position of the
    tool call, such as `["image/png", "image/jpeg"]`. The answer does not show these images a second
    time as attachments. `[]`: none.
    """
    media_type_substitution: Annotated[dict[str, str], _null_as({})] = Field(default_factory=dict)
    """Replacements for MIME types, for clients that have their own viewer for a type. Each key is
    replaced by its value, as in `{"application/json": "application/vnd.plotly.v1+json"}`.
    Replacements apply after `supported_types`, and before `propagate_types_to_choice` and
    `propagate_types_to_text`.
    """


class ResponseAsAttachment(Node):
    """Stores the response from a REST service as one of the caller's files."""

    enabled: bool = False
    """Store responses as files. False or omitted: the model gets the text, and nothing is stored.
    To avoid a warning in the server log, set `{"enabled": false}` explicitly.
    """
    content_types: Types = Field(default_factory=unpublished_default(ANY_TYPE))
    """MIME types of the responses to store, such as `["application/pdf"]`. Omitted: all types."""
    include_body_as_content: bool = True
    """Also give the model the text of the response. False: the model gets only the name of the
    file.
    """
