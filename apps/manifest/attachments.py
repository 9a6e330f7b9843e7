"""Which attachments of a tool survive, and how a REST response becomes one."""

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
    """Which files of a tool's results are kept, and which the answer shows. Null for
    `supported_types`, `propagate_types_to_choice` or `media_type_substitution` means its default."""

    supported_types: Annotated[
        Types, _null_as(ANY_TYPE), WithJsonSchema({"anyOf": [_STRINGS, {"type": "null"}]})
    ] = Field(default_factory=unpublished(ANY_TYPE))
    """MIME types of attachments that are kept, such as `["image/*", "text/csv"]`. Left out: all;
    `[]`: none."""
    propagate_types_to_choice: Annotated[Types, _null_as(SHOWN_TYPES)] = Field(
        default_factory=unpublished(SHOWN_TYPES)
    )
    """MIME types of those that are kept that also stand on the answer; the others stay in the stage
    of the call. Left out: `["image/*", "application/vnd.plotly.v1+json"]`; `[]`: none."""
    propagate_types_to_text: Types = ()
    """MIME types of pictures that are kept and stand inside the text of the answer, where the tool was
    called, such as `["image/png", "image/jpeg"]`. They are not beside the answer as well. Only
    stored files can be shown so; `[]`: none."""
    media_type_substitution: Annotated[dict[str, str], _null_as({})] = Field(default_factory=dict)
    """New MIME types by old ones, for clients that show a type in a viewer of their own:
    `{"application/json": "application/vnd.plotly.v1+json"}`. It counts after `supported_types` and
    before the two others."""


class ResponseAsAttachment(Node):
    """What a REST service answers becomes a file of the caller's."""

    enabled: bool = False
    """Keep answers as files. False, or left out: the model gets the text and nothing is kept; write
    `{"enabled": false}` to say that this is meant, else the log has a warning."""
    content_types: Types = Field(default_factory=unpublished(ANY_TYPE))
    """MIME types of the answers that are kept, such as `["application/pdf"]`. Left out: all."""
    include_body_as_content: bool = True
    """Give the model the text of the answer as well; false: only the name of the file."""
