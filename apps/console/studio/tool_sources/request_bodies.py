"""Converts the fields of an operation's request body to tool parameters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.console.studio.tool_sources.parameter_dialect import (
    ParameterReader,
    is_read_only,
    list_names,
    parameter_fields,
    schema_type,
)
from apps.console.studio.tool_sources.rest_tools import RestParameter
from apps.console.studio.tool_sources.source_texts import SourceInvalid


@dataclass(frozen=True, slots=True)
class BodyReader:
    schemas: ParameterReader

    def parameters(self, body: Any, location: str, notes: list[str]) -> Iterator[RestParameter]:
        """Yield one parameter per field of the body. Raises `SourceInvalid` if tools cannot send
        it.
        """
        read, _ = self.schemas.references.follow(body, location)
        content = read.get("content")
        media_type = json_type(content) if isinstance(content, dict) else ""
        if not media_type or not isinstance(content, dict):
            offered = ", ".join(map(str, list(content)[:3])) if isinstance(content, dict) else ""
            raise SourceInvalid(
                f"{location}: the body is {offered or 'of an unknown type'}, but tools can send only JSON."
            )
        at = f"{location}.content.{media_type}"
        media = content[media_type]
        schema, _ = self.schemas.merged(
            media.get("schema") if isinstance(media, dict) else None, at, frozenset()
        )
        if schema_type(schema) == "array":
            raise SourceInvalid(f"{at}: the body is a list, but tools can send only objects.")
        fields = parameter_fields(schema)
        if not fields and read.get("required") is True:
            raise SourceInvalid(f"{at}: the schema does not describe the fields of the body.")
        if not fields:
            notes.append("The fields of the body are not described. Add the fields that you need.")
        required = list_names(schema.get("required")) if read.get("required") is True else []
        for key, part in fields.items():
            if not is_read_only(part):
                where = f"{at}.schema.properties.{key}"
                written = self.schemas.parameter(part, where)
                yield RestParameter(key, "body", written, key in required)


def json_type(content: Mapping[str, Any]) -> str:
    """Return the media type in `content` that is JSON or allows JSON, or "" if there is none."""
    plain = {name: name.partition(";")[0].strip().lower() for name in content}
    wanted = (
        n for n, kind in plain.items() if kind == "application/json" or kind.endswith("+json")
    )
    anything = (name for name, kind in plain.items() if kind in {"*/*", "application/*"})
    return next(wanted, next(anything, ""))
