"""Resolves the references (`$ref`) in an OpenAPI document, except references to other documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.integers import read_integer

REF = "$ref"
MOST_HOPS = 20


@dataclass(frozen=True, slots=True)
class References:
    document: Mapping[str, Any]

    def follow(self, value: Any, location: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the value or, if it is a reference, the object to which it refers. Also return the
        references that were followed.

        Raises `SourceInvalid` if a reference is circular, or its target is missing or not an
        object. The error message contains `location`, the path of the value.
        """
        hops: list[str] = []
        while isinstance(value, dict) and isinstance(value.get(REF), str):
            name = value[REF]
            if name in hops or len(hops) >= MOST_HOPS:
                raise SourceInvalid(f"{location}: the reference {show_name(name)} is circular.")
            hops.append(name)
            # OpenAPI 3.1 allows a summary and a description next to a reference.
            beside = {key: text for key, text in value.items() if key in {"description", "summary"}}
            value = self.find(name, location)
            value = {**value, **beside} if isinstance(value, dict) else value
        if not isinstance(value, dict):
            raise SourceInvalid(f"{location}: expected an object.")
        return value, tuple(hops)

    def find(self, name: str, location: str) -> Any:
        if not name.startswith("#/"):
            raise SourceInvalid(
                f"{location}: {show_name(name)} refers to another document, which is not supported; "
                "bundle everything into one document."
            )
        found: Any = self.document
        for part in name[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif (
                isinstance(found, list) and (index := read_integer(key, len(found) - 1)) is not None
            ):
                found = found[index]
            else:
                raise SourceInvalid(f"{location}: the document contains no {show_name(name)}.")
        return found


def show_name(name: str) -> str:
    return repr(name if len(name) <= 100 else f"{name[:100]}…")
