"""What the body of an operation holds, as parameters of a tool: its fields, side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.console.studio.tool_sources.parameter_dialect import (
    SchemaReader,
    fields_of,
    is_read_only,
    kind_of,
    names_in,
)
from apps.console.studio.tool_sources.rest_tools import RestParameter
from apps.console.studio.tool_sources.source_texts import SourceInvalid


@dataclass(frozen=True, slots=True)
class BodyReader:
    schemas: SchemaReader

    def parameters(self, body: Any, place: str, notes: list[str]) -> Iterator[RestParameter]:
        """Raises `SourceInvalid` for a body that no tool can send."""
        read, _ = self.schemas.references.follow(body, place)
        content = read.get("content")
        media_type = json_type(content) if isinstance(content, dict) else ""
        if not media_type or not isinstance(content, dict):
            offered = ", ".join(map(str, list(content)[:3])) if isinstance(content, dict) else ""
            raise SourceInvalid(
                f"{place}: it is sent as {offered or 'something'} and tools send JSON."
            )
        at = f"{place}.content.{media_type}"
        media = content[media_type]
        schema, _ = self.schemas.merged(
            media.get("schema") if isinstance(media, dict) else None, at, frozenset()
        )
        if kind_of(schema) == "array":
            raise SourceInvalid(f"{at}: it is a list, and tools send an object.")
        fields = fields_of(schema)
        if not fields and read.get("required") is True:
            raise SourceInvalid(f"{at}: its fields are not described.")
        if not fields:
            notes.append("The fields of the body are not described: add those that you need.")
        required = names_in(schema.get("required")) if read.get("required") is True else []
        for key, part in fields.items():
            if not is_read_only(part):
                where = f"{at}.schema.properties.{key}"
                written = self.schemas.parameter(part, where)
                yield RestParameter(key, "body", written, key in required)


def json_type(content: Mapping[str, Any]) -> str:
    """The media type of `content` that is JSON, "" if there is none."""
    plain = {name: name.partition(";")[0].strip().lower() for name in content}
    wanted = (
        n for n, kind in plain.items() if kind == "application/json" or kind.endswith("+json")
    )
    anything = (name for name, kind in plain.items() if kind in {"*/*", "application/*"})
    return next(wanted, next(anything, ""))
