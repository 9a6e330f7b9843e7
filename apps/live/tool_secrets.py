"""Credentials in a request to a model: of tools that its service runs itself, and of parameters."""

from typing import Any

import msgspec
from django.conf import settings

from apps.catalog.masking import seal_of
from apps.manifest.secrets import HIDDEN, reads_as_credential

HEADERS = "headers"


def masked_tool(raw: bytes) -> bytes:
    """A written tool with its credentials masked; a function of ours has none in its schema."""
    tool = msgspec.json.decode(raw)
    if not isinstance(tool, dict) or "input_schema" in tool or tool.get("type") == "function":
        return raw
    safe = masked(tool)
    return raw if safe == tool else msgspec.json.encode(safe)


def masked_member(key: str, value: Any) -> Any:
    """The value of a parameter, with credentials in it masked."""
    return hidden(value) if isinstance(value, str) and reads_as_credential(key) else masked(value)


def masked(value: Any, *, in_headers: bool = False) -> Any:
    if isinstance(value, list):
        return [masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: hidden(member)
        if isinstance(member, str) and (in_headers or reads_as_credential(key))
        else masked(member, in_headers=key == HEADERS)
        for key, member in value.items()
    }


def hidden(value: str) -> dict[str, str]:
    return {HIDDEN: seal_of(value, settings.SECRET_KEY)}
