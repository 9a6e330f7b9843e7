"""Converts YAML to JSON values, based on the events from the C parser.

If the C parser builds deeply nested values itself, it overflows the stack and ends the process.
This module limits the depth. Keys, dates and words such as `yes` become strings, and tags are
ignored.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from apps.manifest.validation.json_document import MAX_DEPTH

MERGE = "<<"
WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_number = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?")


class YamlInvalid(ValueError):
    """The text is not valid YAML."""


def read_yaml(text: str) -> Any:
    """Parse the first document in a YAML text. Raises `YamlInvalid` if it is invalid or nested too
    deeply.
    """
    try:
        return value_of(yaml.parse(text, Loader=yaml.CSafeLoader))
    except yaml.MarkedYAMLError as error:
        raise invalid(str(error.problem or error.context), error.problem_mark) from None
    except (yaml.YAMLError, UnicodeError):
        raise YamlInvalid("it contains characters that YAML does not allow.") from None


def invalid(problem: str, mark: Any) -> YamlInvalid:
    location = f", line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    return YamlInvalid(f"{problem}{location}.")


def value_of(events: Iterator[Any]) -> Any:
    anchors: dict[str, Any] = {}
    held: list[Container] = []
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            if len(held) >= MAX_DEPTH:
                raise invalid(
                    f"nested too deeply; the limit is {MAX_DEPTH} levels", event.start_mark
                )
            held.append(Container(event.anchor, isinstance(event, yaml.MappingStartEvent)))
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            whole = held.pop()
            anchor, value = whole.anchor, whole.value()
        elif isinstance(event, yaml.NodeEvent):
            is_key = bool(held) and held[-1].wants_key
            anchor, value = event.anchor, leaf_of(event, anchors, is_key=is_key)
        else:
            continue
        anchors[anchor or ""] = value
        if not held:
            return value
        held[-1].items.append(value)
    return None


@dataclass(slots=True)
class Container:
    """A list or an object whose end the parser has not reached."""

    anchor: str | None
    is_mapping: bool
    items: list[Any] = field(default_factory=list)
    """The values of a list, or the alternating keys and values of an object."""

    @property
    def wants_key(self) -> bool:
        return self.is_mapping and len(self.items) % 2 == 0

    def value(self) -> Any:
        return mapping_of(self.items) if self.is_mapping else self.items


def leaf_of(event: Any, anchors: Mapping[str, Any], *, is_key: bool) -> Any:
    if isinstance(event, yaml.ScalarEvent):
        return scalar_of(event, is_key=is_key)
    # An anchor can be used only after its container is complete, so a container cannot contain
    # itself.
    if event.anchor not in anchors:
        raise invalid(f"the alias {event.anchor!r} has no anchor above it", event.start_mark)
    return anchors[event.anchor]


def mapping_of(items: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in zip(items[::2], items[1::2], strict=True):
        if key == MERGE:
            merged = value if isinstance(value, list) else [value]
            for part in merged:
                found = {**part, **found} if isinstance(part, dict) else found
        else:
            found[key if isinstance(key, str) else json.dumps(key)] = value
    return found


def scalar_of(event: Any, *, is_key: bool) -> Any:
    text = event.value
    if is_key or event.style or event.tag is not None:
        return text
    if text in WORDS:
        return WORDS[text]
    return json.loads(text) if _number.fullmatch(text) else text
