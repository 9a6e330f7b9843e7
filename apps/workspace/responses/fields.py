"""Fields of JSON that a service or a client wrote, leniently read."""

from collections.abc import Mapping
from typing import Any


def text_in(written: Any, name: str) -> str:
    found = written.get(name) if isinstance(written, Mapping) else None
    return found if isinstance(found, str) else ""


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
